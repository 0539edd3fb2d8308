"""Monte-Carlo tree search for any number of seats, compiled, one thread.

Each seat chooses what is best for itself (max^n; C. Luckhardt and K. Irani, 1986).  A child is selected by its mean
reward and by its prior (PUCT; C. Rosin, 2011, in the form of D. Silver et al., 2017); the prior is the softmax of what
`weigh` says of the position after the placement.  A position that has been visited some times gets its likeliest
placements as children; from any other the game is played to its end at random, large pieces first.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.engine.kernel import (
    EXPANDED,
    GONE,
    LISTED,
    OUT,
    SCARCE,
    TURN,
    Random,
    State,
    compiled,
    copy_state,
    legal_list,
    pick,
    points,
    put,
    seat_of,
)
from bots.engine.tables import CLASSES, Tables
from bots.engine.weigh import MAX_MOVES, Weights, weigh_all

MAX_DEPTH: Final = 128
SHORT: Final = 100
"""So many placements of a colour are listed at the root; copying more of them costs more than finding some."""
UNKNOWN: Final = -1
OVER: Final = -2


class Tree(NamedTuple):
    """The nodes of a search, those of one parent side by side.  Node 0 is the root."""

    placement: NDArray[np.int32]
    """What led here."""
    visits: NDArray[np.int32]
    reward: NDArray[np.float64]
    """The sum of the rewards of the seat that made this placement."""
    prior: NDArray[np.float32]
    first: NDArray[np.int32]
    """The first child; UNKNOWN if there are none yet, OVER if the game is over here."""
    children: NDArray[np.int32]
    colour: NDArray[np.int8]
    """The colour that moves in this position; known once there are children."""
    own: NDArray[np.float64]
    """The sum of the rewards, in this position, of the seat that moves."""
    used: NDArray[np.int64]
    """(1) How many nodes there are."""


class Style(NamedTuple):
    """How a search plays.  The numbers were found by matches; see docs/engine.md."""

    weights: Weights
    """How the priors weigh a position."""
    temperature: float
    """The difference of two such values that makes one prior e times the other."""
    even: float
    """The part of a prior that is the same for all."""
    wide: int
    """How many placements, those of the largest priors, a node has that is not the root."""
    explore: float
    """How much a prior counts against what is known."""
    reduction: float
    """How much worse than its parent's mean a placement is thought to be before it is tried."""
    threshold: int
    """How often a position is visited before it gets children."""
    margin: float
    """The part of a reward that comes from the lead in points, not from winning."""
    spread: float
    """The lead in points at which that part is three quarters."""


def empty_tree(nodes: int) -> Tree:
    """Room for a search of so many nodes, 41 bytes each, with a root that nothing is known of."""
    tree = Tree(
        placement=np.zeros(nodes, np.int32),
        visits=np.zeros(nodes, np.int32),
        reward=np.zeros(nodes, np.float64),
        prior=np.zeros(nodes, np.float32),
        first=np.zeros(nodes, np.int32),
        children=np.zeros(nodes, np.int32),
        colour=np.zeros(nodes, np.int8),
        own=np.zeros(nodes, np.float64),
        used=np.zeros(1, np.int64),
    )
    clear(tree)
    return tree


@compiled
def clear(tree: Tree) -> None:
    """Forget everything."""
    tree.used[0] = 0
    add_node(tree, np.int64(-1), 1.0)


@compiled
def add_node(tree: Tree, placement: int, prior: float) -> int:
    node = tree.used[0]
    tree.used[0] = node + 1
    tree.placement[node] = placement
    tree.visits[node] = 0
    tree.reward[node] = 0.0
    tree.prior[node] = prior
    tree.first[node] = UNKNOWN
    tree.children[node] = 0
    tree.own[node] = 0.0
    return node


@compiled
def play_out(tables: Tables, state: State, random: Random) -> None:
    """Play at random until nobody can place anything."""
    colours = len(state.boards)
    for colour in range(colours):
        if seat_of(tables, state, colour) < 0:
            state.numbers[colour, OUT] = 1
    colour = state.numbers[-1, TURN]
    idle = 0
    while idle < colours:
        if state.numbers[colour, OUT] == 0:
            placement = pick(state, colour, random)
            if placement >= 0:
                put(state, colour, placement)
                idle = -1
            else:
                state.numbers[colour, OUT] = 1
        idle += 1
        colour += 1
        if colour == colours:
            colour = 0
    state.numbers[-1, TURN] = -1


@compiled
def rewards(tables: Tables, state: State, style: Style, into: NDArray[np.float64]) -> None:
    """The reward of each seat at the end, from 0 to 1: the win, shared if it is, and the lead over the best other."""
    totals = np.zeros(tables.seats, np.float64)
    for colour in range(len(state.boards)):
        owner = tables.owner[colour]
        if owner >= 0:
            totals[owner] += points(tables, state, colour)
    best = -1e9
    for seat in range(tables.seats):
        if (state.numbers[-1, GONE] >> seat) & 1:
            totals[seat] = -1e6
        best = max(best, totals[seat])
    winners = 0
    for seat in range(tables.seats):
        winners += totals[seat] == best
    for seat in range(tables.seats):
        other = -1e9
        for rival in range(tables.seats):
            if rival != seat:
                other = max(other, totals[rival])
        lead = (totals[seat] - other) / style.spread
        shade = 0.5 + 0.5 * lead / (1.0 + abs(lead))
        won = 1.0 / winners if totals[seat] == best else 0.0
        into[seat] = (1.0 - style.margin) * won + style.margin * shade


@compiled
def limit_of(values: NDArray[np.float64], wide: int) -> float:
    """A value that so many or a few more of these reach, by halving; all that are equal count."""
    low, high = values.min(), values.max()
    for _ in range(12):
        middle = (low + high) / 2.0
        reached = 0
        for value in values:
            reached += value >= middle
        if reached < wide:
            high = middle
        else:
            low = middle
    return low


@compiled
def add_children(
    tables: Tables,
    state: State,
    tree: Tree,
    node: int,
    style: Style,
    found: NDArray[np.int32],
    values: NDArray[np.float64],
) -> None:
    """Give a node its children: of the next colour that can place something. If none can, the game is over."""
    colours = len(state.boards)
    colour = state.numbers[-1, TURN]
    count = 0
    for _ in range(colours):
        if state.numbers[colour, OUT] == 0 and seat_of(tables, state, colour) >= 0:
            count = legal_list(state, colour, found)
            if count > 0:
                break
            state.numbers[colour, OUT] = 1
        colour = (colour + 1) % colours
    if count == 0:
        tree.first[node] = OVER
        return
    weigh_all(tables, state, colour, found, count, style.weights, values)
    if node > 0 and count > style.wide:
        limit = limit_of(values[:count], style.wide)
        kept = 0
        for i in range(count):
            if values[i] >= limit:
                found[kept], values[kept] = found[i], values[i]
                kept += 1
        count = kept
    if tree.used[0] + count > len(tree.visits):
        return
    best = -1e9
    for i in range(count):
        best = max(best, values[i])
    total = 0.0
    for i in range(count):
        values[i] = np.exp((values[i] - best) / style.temperature)
        total += values[i]
    begin = tree.used[0]
    for i in range(count):
        prior = (1.0 - style.even) * values[i] / total + style.even / count
        add_node(tree, np.int64(found[i]), prior)
    tree.colour[node] = colour
    tree.children[node] = tree.used[0] - begin
    tree.first[node] = begin


@compiled
def select(tree: Tree, node: int, style: Style) -> int:
    """The child to follow."""
    first = np.int64(tree.first[node])
    weight = np.sqrt(np.float64(tree.visits[node]) + 1.0) * style.explore
    unknown = 0.5
    if tree.visits[node] > 0:
        unknown = tree.own[node] / tree.visits[node] - style.reduction
    best, chosen = -1e9, first
    for child in range(first, first + tree.children[node]):
        visits = tree.visits[child]
        mean = tree.reward[child] / visits if visits > 0 else unknown
        value = mean + weight * tree.prior[child] / (1.0 + visits)
        if value > best:
            best, chosen = value, child
    return chosen


@compiled
def foresee(state: State, found: NDArray[np.int32]) -> None:
    """Make the lists of the root while they are short, so that no simulation has to."""
    for colour in range(len(state.boards)):
        if legal_list(state, colour, found) <= SHORT:
            state.numbers[colour, SCARCE] = 1
        else:
            state.numbers[colour, EXPANDED] = 0
            state.numbers[colour, LISTED : LISTED + CLASSES] = 0


@compiled
def search(
    tables: Tables,
    root: State,
    state: State,
    tree: Tree,
    style: Style,
    random: Random,
    simulations: int,
    sums: NDArray[np.float64],
) -> None:
    """Run so many simulations from the root position; ``state`` is room for another.

    The rewards of every seat are added to ``sums``; the tree keeps only those of the seats that chose.
    """
    colours = len(root.boards)
    found = np.zeros(MAX_MOVES, np.int32)
    values = np.zeros(MAX_MOVES, np.float64)
    path = np.zeros(MAX_DEPTH, np.int64)
    seats = np.zeros(MAX_DEPTH, np.int64)
    gained = np.zeros(tables.seats, np.float64)
    foresee(root, found)
    full = len(tree.visits) - style.wide
    for _ in range(simulations):
        copy_state(state, root)
        node, depth = np.int64(0), 0
        while True:
            ready = node == 0 or (tree.visits[node] >= style.threshold and tree.used[0] < full)
            if tree.first[node] == UNKNOWN and ready:
                add_children(tables, state, tree, node, style, found, values)
            if tree.first[node] < 0:
                break
            colour = np.int64(tree.colour[node])
            passed = state.numbers[-1, TURN]
            while passed != colour:
                state.numbers[passed, OUT] = 1
                passed = (passed + 1) % colours
            path[depth] = node
            seats[depth] = seat_of(tables, state, colour)
            node = np.int64(select(tree, node, style))
            put(state, colour, np.int64(tree.placement[node]))
            state.numbers[-1, TURN] = (colour + 1) % colours
            depth += 1
        path[depth] = node
        if tree.first[node] != OVER:
            play_out(tables, state, random)
        rewards(tables, state, style, gained)
        sums += gained
        tree.visits[0] += 1
        for i in range(depth):
            reward = gained[seats[i]]
            tree.own[path[i]] += reward
            tree.reward[path[i + 1]] += reward
            tree.visits[path[i + 1]] += 1


@compiled
def best_child(tree: Tree) -> int:
    """The child of the root that was followed most often; of equal ones the better."""
    first = np.int64(tree.first[0])
    chosen = first
    for child in range(first + 1, first + tree.children[0]):
        more = tree.visits[child] > tree.visits[chosen]
        if more or (
            tree.visits[child] == tree.visits[chosen] and tree.reward[child] > tree.reward[chosen]
        ):
            chosen = child
    return chosen


@compiled
def is_decided(tree: Tree, left: int) -> bool:
    """Whether so many simulations more cannot make another child of the root the most followed one."""
    chosen = best_child(tree)
    first = np.int64(tree.first[0])
    second = 0
    for child in range(first, first + tree.children[0]):
        if child != chosen:
            second = max(second, tree.visits[child])
    return tree.visits[chosen] - second > left


@compiled
def move_root(tree: Tree, node: int, into: Tree) -> None:
    """Copy what is known below a node into another tree, which has as much room."""
    into.used[0] = 1
    sources = np.zeros(tree.used[0], np.int64)
    sources[0] = node
    target = 0
    while target < into.used[0]:
        source = sources[target]
        into.placement[target] = tree.placement[source]
        into.visits[target] = tree.visits[source]
        into.reward[target] = tree.reward[source]
        into.prior[target] = tree.prior[source]
        into.children[target] = tree.children[source]
        into.colour[target] = tree.colour[source]
        into.own[target] = tree.own[source]
        into.first[target] = tree.first[source]
        if tree.first[source] >= 0:
            into.first[target] = into.used[0]
            for i in range(tree.children[source]):
                sources[into.used[0]] = tree.first[source] + i
                into.used[0] += 1
        target += 1
