"""The socket's frames, both ways, as types. docs/protocol.md says what they mean."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

PROTOCOL = 1
"""The major version of the socket protocol."""

Id = Annotated[str, Meta(min_length=1, max_length=64)]
Name = Annotated[str, Meta(min_length=1, max_length=64)]
Turn = Annotated[int, Meta(ge=0, le=2**31 - 10)]


class Command(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", kw_only=True):
    """What a client asks. Exactly one reply carries the same `id`."""

    id: Id


class Auth(Command, frozen=True, tag="auth", kw_only=True):
    """Sign in on a socket that was opened without a token, or renew the token in-band."""

    id: Id = "auth"
    token: Annotated[str, Meta(max_length=200)]


class Subscribe(Command, frozen=True, tag="subscribe", kw_only=True):
    """Follow a stream: with a `cursor` the events after it, without one a snapshot first."""

    stream: Name
    cursor: Annotated[int, Meta(ge=0)] | None = None


class Unsubscribe(Command, frozen=True, tag="unsubscribe", kw_only=True):
    stream: Name


class Move(Command, frozen=True, tag="move", kw_only=True):
    """Place a piece as move number `ply`, written as its cells."""

    game: Name
    ply: Annotated[int, Meta(ge=0, le=10_000)]
    move: str


class Undo(Command, frozen=True, tag="undo", kw_only=True):
    """Take one's latest move back, and what came after it, in a game that is at `ply`."""

    game: Name
    ply: Annotated[int, Meta(ge=0, le=10_000)]


class UndoAnswer(Command, frozen=True, tag="undo.answer", kw_only=True):
    """Agree to the undo that another seat asks for in a game that is at `ply`, or do not."""

    game: Name
    ply: Annotated[int, Meta(ge=0, le=10_000)]
    agreed: bool


class Hint(Command, frozen=True, tag="hint", kw_only=True):
    """Ask for the strongest CPU's move; it arrives in the inbox. With `ply` only if the game is at that one."""

    game: Name
    ply: Annotated[int, Meta(ge=0, le=10_000)] | None = None


class Resign(Command, frozen=True, tag="resign", kw_only=True):
    """Give up a seat: the one that is to move, or the first, for somebody who has several and names none."""

    game: Name
    seat: Annotated[int, Meta(ge=0, le=63)] | None = None


class RunPlace(Command, frozen=True, tag="run.place", kw_only=True):
    """Place a block of a puzzle run, as the answer to its turn number `turn`."""

    run: Name
    turn: Turn
    slot: Annotated[int, Meta(ge=0, le=99)]
    rotation: Annotated[int, Meta(ge=0, le=99)] = 0
    at: Annotated[str, Meta(max_length=16)]


class RunUndo(Command, frozen=True, tag="run.undo", kw_only=True):
    """Take the latest placement of a puzzle run back, as the answer to its turn number `turn`."""

    run: Name
    turn: Turn


class RunHint(Command, frozen=True, tag="run.hint", kw_only=True):
    """Ask what to place in a puzzle run; it arrives in the inbox. With `turn` only if the run is at that one."""

    run: Name
    turn: Turn | None = None


class TicketJoin(Command, frozen=True, tag="ticket.join", kw_only=True):
    """Wait in a pool; the match arrives in the inbox."""

    pool: Name


class TicketLeave(Command, frozen=True, tag="ticket.leave", kw_only=True):
    """Stop waiting."""

    pool: Name | None = None


class InboxRead(Command, frozen=True, tag="inbox.read", kw_only=True):
    """The items of the inbox up to a number have been read."""

    up_to: Annotated[int, Meta(ge=0, le=2**63 - 1)]


class Ping(Command, frozen=True, tag="ping", kw_only=True):
    """Say that one is still there; the reply carries the server's time."""


AnyCommand = (
    Auth
    | Subscribe
    | Unsubscribe
    | Move
    | Undo
    | UndoAnswer
    | Hint
    | Resign
    | RunPlace
    | RunUndo
    | RunHint
    | TicketJoin
    | TicketLeave
    | InboxRead
    | Ping
)

_decoder: msgspec.json.Decoder[AnyCommand] = msgspec.json.Decoder(AnyCommand)
_encoder = msgspec.json.Encoder()


class _Addressed(Struct):
    id: Id


_addressed = msgspec.json.Decoder(_Addressed)


def decode(text: str) -> AnyCommand:
    """The command of a frame. Raises one of `NOT_UNDERSTOOD`."""
    return _decoder.decode(text)


NOT_UNDERSTOOD = (msgspec.MsgspecError, ValueError, RecursionError)
"""What `decode` may raise; the last for brackets in brackets, thousands deep."""


def id_of(text: str) -> str | None:
    """The id of a frame that is otherwise not understood, so that it can be answered."""
    try:
        return _addressed.decode(text).id
    except NOT_UNDERSTOOD:
        return None


def encode(frame: dict[str, Any]) -> str:
    """The text of a server frame."""
    return _encoder.encode(frame).decode()
