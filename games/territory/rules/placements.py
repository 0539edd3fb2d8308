"""The legal placements of a colour, as a view that computes no more than it is asked for."""

from collections.abc import Collection, Iterator
from itertools import chain

from .geometry import Mask, board
from .notation import Move, all_moves


class Placements(Collection[Move]):
    """What one colour may place: ask ``move in view``, ``len(view)``, ``bool(view)``, or iterate.

    A legal placement is one of the ``pieces``, covers at least one of the cells ``attach`` and none
    of the cells ``blocked``.  ``bool`` stops at the first one found.  The order is always the same
    for the same position, but otherwise without meaning.
    """

    __slots__ = ("_masks", "attach", "blocked", "pieces", "size")

    def __init__(self, size: int, pieces: Collection[str], attach: Mask, blocked: Mask) -> None:
        self.size = size
        self.pieces = pieces
        self.attach = attach & ~blocked
        self.blocked = blocked
        self._masks: list[Mask] | None = None

    def masks(self) -> list[Mask]:
        """The legal placements as sets of cells, each once.  Do not change the answer."""
        if self._masks is None:
            self._masks = self._search()
        return self._masks

    def _search(self) -> list[Mask]:
        found: list[Mask] = []
        near = board(self.size).near
        pieces = dict.fromkeys(self.pieces)
        attach, blocked = self.attach, self.blocked
        while attach:
            bit = attach & -attach
            over = near[bit]
            tried = chain.from_iterable(map(over[blocked & over.around].__getitem__, pieces))
            found += [mask for mask in tried if not mask & blocked]
            # All that cover this cell are found: blocking it keeps the others from finding them.
            blocked |= bit
            attach ^= bit
        return found

    def __bool__(self) -> bool:
        near = board(self.size).near
        attach, blocked = self.attach, self.blocked
        while attach:
            bit = attach & -attach
            over = near[bit]
            by_piece = over[blocked & over.around]
            for piece in self.pieces:
                for mask in by_piece[piece]:
                    if not mask & blocked:
                        return True
            attach ^= bit
        return False

    def __len__(self) -> int:
        return len(self.masks())

    def __iter__(self) -> Iterator[Move]:
        return map(all_moves(self.size).__getitem__, self.masks())

    def __contains__(self, move: object) -> bool:
        return (
            isinstance(move, Move)
            and not move.mask & self.blocked
            and bool(move.mask & self.attach)
            and move.piece in self.pieces
            and all_moves(self.size).get(move.mask) == move
        )

    def __repr__(self) -> str:
        return f"<Placements {', '.join(map(str, self))}>"
