"""Addresses below `/api/v1/`."""

from django.urls import path

from matchmaking.api import challenges, pools, rooms

urlpatterns = [
    path("pools", pools.PoolsView.as_view(), name="pools"),
    path("pools/<str:key>", pools.PoolView.as_view(), name="pool"),
    path("pools/<str:key>/ticket", pools.TicketView.as_view(), name="ticket"),
    path("rooms", rooms.RoomsView.as_view(), name="rooms"),
    path("rooms/<str:code>", rooms.RoomView.as_view(), name="room"),
    path("rooms/<str:code>/seats/<int:seat>", rooms.RoomSeatView.as_view(), name="room-seat"),
    path("rooms/<str:code>/ready", rooms.RoomReadyView.as_view(), name="room-ready"),
    path("rooms/<str:code>/start", rooms.RoomStartView.as_view(), name="room-start"),
    path("me/challenge-settings", challenges.TakingView.as_view(), name="challenge-settings"),
    path("challenges", challenges.ChallengesView.as_view(), name="challenges"),
    path("challenges/<str:challenge_id>", challenges.ChallengeView.as_view(), name="challenge"),
    path("challenges/<str:challenge_id>/accept", challenges.AcceptView.as_view(), name="accept"),
    path("challenges/<str:challenge_id>/decline", challenges.DeclineView.as_view(), name="decline"),
    path("games/<str:game_id>/rematch", challenges.RematchView.as_view(), name="rematch"),
]
