"""A run as JSON, for whoever keeps it: ``load(dump(run)) == run``, the run that an undo restores included.

>>> from .run import start
>>> run = start(Rules.of("daily"), bytes(32))
>>> load(dump(run)) == run
True
"""

from dataclasses import asdict
from typing import Any

from .blocks import Block
from .rules import Rules
from .run import Run, Statistics

Json = dict[str, Any]


def dump(run: Run) -> Json:
    """The run as JSON has it: objects, lists, texts, whole numbers, ``True``, ``False`` and ``None``."""
    return {"rules": run.rules.as_dict()} | _changing(run)


def load(data: Json) -> Run:
    """The run that ``dump`` wrote; ``KeyError``, ``TypeError`` or ``ValueError`` for what it did not write."""
    return _run(Rules.of(**data["rules"]), data)


def _changing(run: Run) -> Json:
    return {
        "board": list(run.rules.board.rows(run.board)),
        "hand": [block and block.text for block in run.hand],
        "draws": run.draws,
        "score": run.score,
        "streak": run.streak,
        "streak_at_risk": run.streak_at_risk,
        "turn": run.turn,
        "over": run.over,
        "undo_used": run.undo_used,
        "statistics": asdict(run.statistics),
        "before": None if run.before is None else _changing(run.before),
    }


def _run(rules: Rules, data: Json) -> Run:
    before = data["before"]
    return Run(
        rules=rules,
        board=rules.board.read_rows(data["board"]),
        hand=tuple(None if text is None else Block.read(text) for text in data["hand"]),
        draws=data["draws"],
        score=data["score"],
        streak=data["streak"],
        streak_at_risk=data["streak_at_risk"],
        turn=data["turn"],
        over=data["over"],
        undo_used=data["undo_used"],
        statistics=Statistics(**data["statistics"]),
        before=None if before is None else _run(rules, before),
    )
