"""A card about the runs of one player."""

from django.urls import reverse

from common.cards import Card, link, player_page
from common.clock import from_datetime, rfc3339
from games.puzzle.models import Run


@player_page.card("Runs of the block puzzle", order=25, permission="puzzle.view_run")
def runs_of(player_id: int, now: int) -> Card:
    """The latest runs."""
    rows = (
        Run.objects.filter(player_id=player_id)
        .only("level", "board", "daily_id", "counted", "status", "score", "started_at")
        .order_by("-started_at", "-id")[:8]
    )
    return Card(
        columns=("run", "rules", "state", "score", "began"),
        rows=[
            (
                link(reverse("admin:puzzle_run_change", args=[run.pk]), run.pk),
                f"daily {run.daily_id}" if run.counted else f"{run.level} {run.board}",
                run.status,
                run.score,
                rfc3339(from_datetime(run.started_at))[:16].replace("T", " "),
            )
            for run in rows
        ],
    )
