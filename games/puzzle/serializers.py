"""Bodies and queries of the REST API of puzzles, and what answers are made of."""

from typing import Any

from rest_framework import serializers

from common.clock import from_datetime, rfc3339
from common.rest import Body, WholeNumber
from games.puzzle import rules
from games.puzzle.models import Best, Daily, Run
from games.puzzle.rules.rules import DEALINGS, SHAPES, UNDOS
from games.puzzle.selectors import MAX_VERSION, daily_board, seed_of

MAX_TURN = 2**31 - 10


class NewRun(Body):
    """A level, and what is free there: `custom` wants `rotation`, `dealing` and `shapes`; `daily` a past `date`."""

    level = serializers.ChoiceField(choices=rules.LEVELS)
    board = serializers.ChoiceField(
        choices=list(rules.BOARDS), default=None, help_text="`10x10` if it is left out."
    )
    undo = serializers.ChoiceField(
        choices=UNDOS, default=None, help_text="`off` if it is left out."
    )
    rotation = serializers.BooleanField(default=None, allow_null=True)
    dealing = serializers.ChoiceField(choices=DEALINGS, default=None)
    shapes = serializers.ChoiceField(choices=SHAPES, default=None)
    date = serializers.DateField(default=None, help_text="A past date of UTC, to practise it.")


class NewPlacement(Body):
    """An answer to turn number `turn`: the block of a slot, turned, with the lower left corner of its bounding box."""

    turn = serializers.IntegerField(min_value=0, max_value=MAX_TURN)
    slot = serializers.IntegerField(min_value=0, max_value=99, help_text="0, 1 or 2.")
    rotation = serializers.IntegerField(
        min_value=0, max_value=99, default=0, help_text="Quarter turns clockwise, 0 to 3."
    )
    at = serializers.CharField(
        max_length=16, trim_whitespace=False, help_text="A cell, such as `c4`."
    )


class RunUndoWish(Body):
    """An answer to turn number `turn`."""

    turn = serializers.IntegerField(min_value=0, max_value=MAX_TURN)


class RunsQuery(Body):
    cursor = serializers.CharField(max_length=64, default=None, help_text="From `next`.")
    limit = WholeNumber(min_value=1, max_value=100, default=50)
    status = serializers.ChoiceField(choices=Run.Status.values, default=None)


class EventsQuery(Body):
    after = WholeNumber(
        min_value=0,
        max_value=MAX_VERSION,
        default=0,
        help_text="The last version that you have.",
    )


class RunPicture(Body):
    """How a run is to be drawn, and over which cells a block is held."""

    theme = serializers.ChoiceField(choices=list(rules.THEMES), default="light")
    coordinates = serializers.BooleanField(default=True, help_text="Letters and numbers around.")
    hand = serializers.BooleanField(default=True, help_text="The hand and the score below.")
    slot = WholeNumber(min_value=0, max_value=2, default=0, help_text="Of the block that is held.")
    rotation = WholeNumber(min_value=0, max_value=3, default=0, help_text="Its quarter turns.")
    at = serializers.CharField(max_length=16, default=None, help_text="Its lower left corner.")


class RunId(serializers.Serializer[Any]):
    run = serializers.CharField()


class StatisticsBody(serializers.Serializer[Any]):
    placements = serializers.IntegerField()
    squares = serializers.IntegerField()
    lines = serializers.IntegerField()
    largest_clear = serializers.IntegerField()
    longest_streak = serializers.IntegerField()


class RunBody(serializers.Serializer[Any]):
    """A run in a list."""

    run = serializers.CharField()
    key = serializers.CharField(help_text="What its best is kept under.")
    date = serializers.DateField(allow_null=True)
    counted = serializers.BooleanField(help_text="The one counted attempt at a daily puzzle.")
    status = serializers.ChoiceField(choices=Run.Status.values)
    turn = serializers.IntegerField()
    score = serializers.IntegerField()
    statistics = StatisticsBody()
    started_at = serializers.CharField()
    finished_at = serializers.CharField(allow_null=True)


class RunList(serializers.Serializer[Any]):
    runs = RunBody(many=True)
    next = serializers.CharField(allow_null=True)


class LegalPlacement(serializers.Serializer[Any]):
    slot = serializers.IntegerField()
    rotation = serializers.IntegerField()
    at = serializers.CharField()
    lines = serializers.ListField(child=serializers.CharField())


class LegalPlacements(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    turn = serializers.IntegerField()
    placements = LegalPlacement(many=True)


class DailyData(serializers.Serializer[Any]):
    """A daily puzzle; `run` is your counted attempt."""

    date = serializers.DateField()
    opens_at = serializers.CharField()
    closes_at = serializers.CharField(help_text="From this instant nothing can be placed.")
    closed = serializers.BooleanField()
    final = serializers.BooleanField(help_text="Whether its leaderboard is final.")
    generator = serializers.CharField()
    seed_hash = serializers.CharField()
    seed = serializers.CharField(allow_null=True)
    run = serializers.CharField(allow_null=True)
    leaderboard = serializers.CharField()


class BestBody(serializers.Serializer[Any]):
    key = serializers.CharField()
    score = serializers.IntegerField()
    placements = serializers.IntegerField()
    run = serializers.CharField(help_text="The run that it comes from.")
    finished_at = serializers.CharField()
    runs = serializers.IntegerField(help_text="How many have ended.")


class BestList(serializers.Serializer[Any]):
    bests = BestBody(many=True)


def run_body(run: Run) -> dict[str, Any]:
    """As `RunBody`."""
    return {
        "run": run.id,
        "key": run.key,
        "date": None if run.daily_id is None else run.daily_id.isoformat(),
        "counted": run.counted,
        "status": run.status,
        "turn": run.turn,
        "score": run.score,
        "statistics": {
            "placements": run.placements,
            "squares": run.squares,
            "lines": run.lines,
            "largest_clear": run.largest_clear,
            "longest_streak": run.longest_streak,
        },
        "started_at": rfc3339(from_datetime(run.started_at)),
        "finished_at": None if run.finished_at is None else rfc3339(from_datetime(run.finished_at)),
    }


def daily_body(daily: Daily, attempt: str | None) -> dict[str, Any]:
    """As `DailyData`."""
    return {
        "date": daily.date.isoformat(),
        "opens_at": rfc3339(rules.opens_at(daily.date)),
        "closes_at": rfc3339(rules.closes_at(daily.date)),
        "closed": daily.closed_at is not None,
        "final": daily.frozen_at is not None,
        "generator": rules.GENERATOR,
        "seed_hash": daily.seed_hash,
        "seed": seed_of(daily),
        "run": attempt,
        "leaderboard": daily_board(daily.date),
    }


def best_body(best: Best) -> dict[str, Any]:
    """As `BestBody`."""
    return {
        "key": best.key,
        "score": best.score,
        "placements": best.placements,
        "run": best.run_id,
        "finished_at": rfc3339(from_datetime(best.finished_at)),
        "runs": best.runs,
    }
