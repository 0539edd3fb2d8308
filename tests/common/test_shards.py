"""Where a key lives: pure."""

from collections import Counter

from common.shards import place

KEYS = [f"game:{number}" for number in range(3_000)]
NODES = ["redis://a", "redis://b", "redis://c"]


def places(nodes: list[str]) -> dict[str, str]:
    return {key: place(key, nodes) for key in KEYS}


def test_the_order_of_the_nodes_does_not_matter() -> None:
    assert places(NODES) == places(NODES[::-1])


def test_every_node_has_its_share() -> None:
    shares = Counter(places(NODES).values())
    assert shares.keys() == set(NODES)
    assert all(900 < share < 1_100 for share in shares.values())


def test_only_what_a_new_node_wins_moves_and_only_what_a_lost_one_had() -> None:
    before, after = places(NODES), places([*NODES, "redis://d"])
    moved = {key for key in KEYS if before[key] != after[key]}
    assert {after[key] for key in moved} == {"redis://d"}
    assert 600 < len(moved) < 900, "a quarter"
    without = places(NODES[1:])
    assert all(without[key] == before[key] for key in KEYS if before[key] != NODES[0])


def test_where_a_key_lives_is_the_same_in_every_process_and_version() -> None:
    assert [place(f"game:{number}", NODES)[-1] for number in range(8)] == list("bbabcbca")
    assert place("x", ["only"]) == "only"
