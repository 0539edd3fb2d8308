"""Cards about games: what is played now and how fast, and the games of one player."""

from django.urls import reverse

from common.cards import Card, bars, dashboard, link, player_page
from common.clock import from_datetime, rfc3339
from games.territory import figures
from games.territory.models import Game
from games.territory.selectors import engaged_games

DASHBOARD = "accounts.view_dashboard"


@dashboard.card("Games", order=10, permission=DASHBOARD)
def games_now(now: int) -> Card:
    """Live games by variant, and how many start and finish a minute."""
    live = figures.live_games()
    rates = figures.rates(now=now, minutes=60)
    return Card(
        figures=[
            ("live games", sum(count for _, _, count in live)),
            ("started in an hour", sum(rates.started)),
            ("finished in an hour", sum(rates.finished)),
        ],
        chart=bars(rates.started, label="Games started a minute")
        + bars(rates.finished, label="Games finished a minute"),
        columns=("variant", "", "live"),
        rows=[(variant, "rated" if rated else "", count) for variant, rated, count in live],
        more=(f"{reverse('admin:territory_game_changelist')}?status__exact=started", "live games"),
    )


@player_page.card("Games", order=20, permission="territory.view_game")
def games_of(player_id: int, now: int) -> Card:
    """Live ones, and the latest."""
    rows = figures.games_of(player_id)
    engaged = engaged_games([player_id]).get(player_id)
    return Card(
        figures=[("live of the latest", sum(game.status == "started" for game in rows))],
        columns=("game", "variant", "with", "state", "began"),
        rows=[
            (
                link(reverse("admin:territory_game_change", args=[game.pk]), game.pk),
                f"{game.variant}{', rated' if game.rated else ''}",
                _others(game, player_id),
                game.termination or game.status,
                rfc3339(from_datetime(game.created_at))[:16].replace("T", " "),
            )
            for game in rows
        ],
        note=f"Engaged in {engaged}: no other matched game can start." if engaged else "",
    )


def _others(game: Game, player_id: int) -> str:
    names = [seat.player.name for seat in game.seats.all() if seat.player_id != player_id]
    return ", ".join(dict.fromkeys(names)) or "alone"
