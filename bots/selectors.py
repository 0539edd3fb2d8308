"""Reading hints and analyses. Hints are private: whoever asks sees only the own ones. Analyses are for everybody."""

from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import QuerySet
from msgspec import Struct

from bots.analysis import Finding, Judged, Review, review
from bots.errors import AnalysisNotReadyError, HintNotAllowedError, NoAnalysisError
from bots.models import HINTS, AnalysedPly, Analysis, Hint, RunHint
from games.territory import selectors as games
from games.territory import viewing
from games.territory.errors import NotSeatedError
from games.territory.rules import parse_move
from games.territory.selectors import Ended, Seating
from games.territory.state import GameState


@dataclass(frozen=True, slots=True)
class HintView:
    """A hint as its player sees it; `piece` and `move` are None until it is given."""

    ply: int
    colour: str
    piece: str | None
    move: str | None

    @classmethod
    def of(cls, hint: Hint) -> "HintView":
        return cls(hint.ply, hint.colour, hint.piece or None, hint.move or None)


@dataclass(frozen=True, slots=True)
class HintList:
    """The hints that a player has had in a game, in order, and how many are left."""

    hints: list[HintView]
    hints_left: int

    def wire(self) -> dict[str, Any]:
        return asdict(self)


def hints_of(*, game_id: str, player_id: int) -> HintList:
    """What a player has had. Raises `UnknownGameError`, `NotSeatedError`, `HintNotAllowedError`."""
    load_table(game_id, player_id)
    given = [HintView.of(hint) for hint in given_to(game_id, player_id).order_by("given_at")]
    return HintList(given, HINTS - len(given))


def given_to(game_id: str, player_id: int) -> "QuerySet[Hint]":
    """The hints that are spent."""
    return Hint.objects.filter(game_id=game_id, player_id=player_id).exclude(move="")


def load_table(game_id: str, player_id: int) -> tuple[GameState, Seating]:
    """A game in which this player may have hints.

    Raises `UnknownGameError`, `NotSeatedError`, `HintNotAllowedError`.
    """
    state, seating = games.load_state(game_id), games.seating(game_id)
    if not seating.seats_of(player_id):
        raise NotSeatedError
    if not state.started.played_alone or not any(seating.levels):
        raise HintNotAllowedError
    return state, seating


def wanted_hint(*, hint_id: int, version: int) -> Hint | None:
    """A hint that is still wanted at this version; None if it is not."""
    return Hint.objects.filter(pk=hint_id, version=version, move="").first()


def wanted_run_hint(*, run_id: str, turn: int) -> RunHint | None:
    """A run's hint for this turn that is still to be given; None if there is none."""
    return RunHint.objects.filter(run_id=run_id, turn=turn, slot=None).first()


# Analyses


class BestMove(Struct, frozen=True):
    """What the engine would have played, and what it leads to for the seat that moved."""

    piece: str
    move: str
    value: float


class PlyAnalysis(Struct, frozen=True):
    """One ply; `before` and `after` are the values of each seat."""

    ply: int
    colour: str
    seat: int
    piece: str
    move: str
    before: list[float]
    after: list[float]
    best: BestMove
    loss: float
    mark: str

    @classmethod
    def of(cls, judged: Judged) -> "PlyAnalysis":
        step = judged.step
        return cls(
            ply=step.ply,
            colour=step.before.variant.colours[step.colour],
            seat=step.seat,
            piece=step.move.piece,
            move=step.move.text,
            before=list(judged.before),
            after=list(judged.after),
            best=BestMove(judged.best.piece, judged.best.text, judged.best_value),
            loss=judged.loss,
            mark=judged.mark.value,
        )


class AnalysisView(Struct, frozen=True):
    """An analysis as clients get it. `moves` and `end` are null until `status` is `done`."""

    game: str
    version: int
    status: str
    done: int
    plies: int
    simulations: int
    engine: str | None
    moves: list[PlyAnalysis] | None = None
    end: list[float] | None = None


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A whole analysis, and what it is of."""

    review: Review
    engine: str
    simulations: int
    is_final: bool


def analysis_of(game_id: str) -> tuple[AnalysisView, bool]:
    """How far a game's analysis is, or all of it, and whether this can never change again.

    Raises `UnknownGameError`, `NotFinishedError`, `NoAnalysisError`.
    """
    analysis, ended = _current(game_id)
    return view_of(analysis, ended), ended.is_final and analysis.status == Analysis.Status.DONE


def view_of(analysis: Analysis, ended: Ended) -> AnalysisView:
    """An analysis of this end as clients get it."""
    whole = None if analysis.status != Analysis.Status.DONE else _review(analysis, ended)
    return AnalysisView(
        game=analysis.game_id,
        version=analysis.version,
        status=analysis.status,
        done=analysis.done,
        plies=analysis.plies,
        simulations=analysis.simulations,
        engine=analysis.engine or None,
        moves=None if whole is None else [PlyAnalysis.of(judged) for judged in whole.plies],
        end=None if whole is None or whole.end is None else list(whole.end),
    )


def reviewed(game_id: str) -> Reviewed:
    """The whole analysis of a game. Raises what `analysis_of` does, and `AnalysisNotReadyError`."""
    analysis, ended = _current(game_id)
    if analysis.status != Analysis.Status.DONE:
        raise AnalysisNotReadyError(
            f"{analysis.done} of {analysis.plies} plies are done.",
            status=analysis.status,
            done=analysis.done,
            plies=analysis.plies,
        )
    return Reviewed(_review(analysis, ended), analysis.engine, analysis.simulations, ended.is_final)


def _current(game_id: str) -> tuple[Analysis, Ended]:
    """A game that is over, and the analysis of this end."""
    ended = viewing.ended(viewing.spectators_view(game_id))
    analysis = Analysis.objects.filter(game_id=game_id, version=ended.version).first()
    if analysis is None:
        raise NoAnalysisError
    return analysis, ended


def _review(analysis: Analysis, ended: Ended) -> Review:
    replay = ended.record.replay()
    on = replay.record.variant
    findings = [
        Finding(
            values=tuple(row.values),
            best=parse_move(row.best, on),
            best_value=row.best_value,
            after=None if row.after is None else tuple(row.after),
        )
        for row in AnalysedPly.objects.filter(analysis=analysis).order_by("ply")
    ]
    return review(replay, findings, analysis.end)
