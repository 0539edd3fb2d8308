"""The tables of matchmaking, by subject. Other apps reach them through services and selectors only."""

from matchmaking.models.challenges import Challenge, ChallengeSeat, ChallengeTaking
from matchmaking.models.matches import MatchedTicket
from matchmaking.models.pools import Pool
from matchmaking.models.rooms import Room, RoomSeat

__all__ = [
    "Challenge",
    "ChallengeSeat",
    "ChallengeTaking",
    "MatchedTicket",
    "Pool",
    "Room",
    "RoomSeat",
]
