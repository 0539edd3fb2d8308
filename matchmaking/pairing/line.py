"""The unpaired tickets in order of rating, and the walk outwards from one of them. Pure.

Places 1 … n hold the tickets; 0 and n + 1 are the ends. They are a doubly linked list, so that taking one out costs
nothing. Among many whose own windows are too narrow, a walk changes over to a tree of the windows' ends, which finds
the next one that reaches back in log n steps.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from matchmaking.pairing.rule import Rule, window
from matchmaking.tickets import Ticket

PATIENCE: Final = 16
"""Places that a walk passes in vain before it asks the tree."""
_SLACK: Final = 1e-6
"""Points by which the tree is generous: it adds and subtracts in another order than the windows' comparison."""


class Line:
    """The line of one pool. `by_age` holds one ticket a player, oldest first; an *age* is an index into it."""

    def __init__(self, by_age: Sequence[Ticket], now: int, limit: float, rule: Rule) -> None:
        order = sorted(range(len(by_age)), key=lambda age: (by_age[age].mu, age))
        self.end: Final = len(order) + 1
        tickets = [by_age[age] for age in order]
        self.tickets: Final = [None, *tickets, None]
        self.ages: Final = [-1, *order, -1]
        self.mus: Final = [float("-inf"), *(t.mu for t in tickets), float("inf")]
        self.windows: Final = [0.0, *(window(t, now, limit, rule) for t in tickets), 0.0]
        self.taken: Final = [False] * (self.end + 1)
        self.left: Final = list(range(-1, self.end))
        self.right: Final = list(range(1, self.end + 2))
        self._reach: tuple[_Reach, _Reach] | None = None

    def ticket(self, place: int) -> Ticket:
        """Who stands at a place between the ends."""
        ticket = self.tickets[place]
        assert ticket is not None
        return ticket

    def places(self) -> list[int]:
        """The places from the oldest ticket to the youngest."""
        places = [0] * (self.end - 1)
        for place in range(1, self.end):
            places[self.ages[place]] = place
        return places

    def take(self, place: int) -> None:
        """Take a place out of the line."""
        self.taken[place] = True
        left, right = self.left[place], self.right[place]
        self.right[left] = right
        self.left[right] = left

    def around(self, place: int, count: int) -> list[int]:
        """The nearest `count` places on each side, as far as there are so many, with the place itself, by rating."""
        found = []
        other = place
        for _ in range(count):
            other = self.left[other]
            if other == 0:
                break
            found.append(other)
        found.reverse()
        found.append(place)
        other = place
        for _ in range(count):
            other = self.right[other]
            if other == self.end:
                break
            found.append(other)
        return found

    def outwards(self, place: int) -> Iterator[tuple[int, float]]:
        """Who lies in the window of `place` and reaches back, with the distance: the nearest first, then the older."""
        mus, windows, ages, lefts, rights = (
            self.mus, self.windows, self.ages, self.left, self.right,
        )  # fmt: skip
        mu, reach = mus[place], windows[place]
        left, right, vain = lefts[place], rights[place], 0
        while vain < PATIENCE:
            below, above = mu - mus[left], mus[right] - mu
            if below < above or (below == above and ages[left] < ages[right]):
                other, distance, left = left, below, lefts[left]
            else:
                other, distance, right = right, above, rights[right]
            if distance > reach:
                return
            if distance <= windows[other]:
                yield other, distance
            else:
                vain += 1
        yield from self._leaps(place, left, right)

    def _leaps(self, place: int, left: int, right: int) -> Iterator[tuple[int, float]]:
        """The rest of a walk, over those alone who reach back; `left` and `right` have not been looked at yet."""
        below_tree, above_tree = self._trees()
        mu, reach, last = self.mus[place], self.windows[place], self.end
        left, right = last - below_tree.first(last - left, -mu), above_tree.first(right, mu)
        while True:
            below, above = mu - self.mus[left], self.mus[right] - mu
            if below < above or (below == above and self.ages[left] < self.ages[right]):
                other, distance = left, below
                left = last - below_tree.first(last - left + 1, -mu) if left else left
            else:
                other, distance = right, above
                right = above_tree.first(right + 1, mu) if right < last else right
            if distance > reach:
                return
            if distance <= self.windows[other]:
                yield other, distance

    def _trees(self) -> "tuple[_Reach, _Reach]":
        """The trees for walking to the left and to the right, made when they are first needed.

        To the left everything is mirrored: places are counted from the other end, and ratings are negative.
        """
        if self._reach is None:
            ends = [mu - reach - _SLACK for mu, reach in zip(self.mus, self.windows, strict=True)]
            mirrored = [-mu - r - _SLACK for mu, r in zip(self.mus, self.windows, strict=True)]
            # Whoever walks meets the line's end at the latest.
            ends[-1] = mirrored[0] = float("-inf")
            mirrored.reverse()
            self._reach = (
                _Reach(mirrored, self.taken, self.end),
                _Reach(ends, self.taken, 0),
            )
        return self._reach


class _Reach:
    """A tree of minima over the lower ends of windows: the next place whose window reaches down to a rating.

    Who has been taken out is forgotten when a search meets them. `taken` is in the order of places, which are counted
    from `mirror` backwards if that is not 0.
    """

    def __init__(self, ends: Sequence[float], taken: Sequence[bool], mirror: int) -> None:
        self._taken = taken
        self._mirror = mirror
        self._leaves = 1 << (len(ends) - 1).bit_length()
        empty = float("inf")
        tree = [empty] * self._leaves + [*ends] + [empty] * (self._leaves - len(ends))
        for node in range(self._leaves - 1, 0, -1):
            tree[node] = min(tree[2 * node], tree[2 * node + 1])
        self._tree = tree

    def first(self, start: int, mu: float) -> int:
        """The first place from `start` on that is not taken and reaches down to `mu`; the last one always does."""
        tree, leaves = self._tree, self._leaves
        while True:
            node = start + leaves
            while tree[node] > mu:
                while node & 1:  # a right child: everything below its parent has been looked at
                    node >>= 1
                node += 1
            while node < leaves:
                node *= 2
                if tree[node] > mu:
                    node += 1
            start = node - leaves
            if not self._taken[abs(self._mirror - start)]:
                return start
            self._forget(node)

    def _forget(self, node: int) -> None:
        tree = self._tree
        tree[node] = float("inf")
        while node > 1:
            node //= 2
            tree[node] = min(tree[2 * node], tree[2 * node + 1])
