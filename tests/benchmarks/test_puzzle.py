"""The puzzle's benchmark: what it plays is legal, and its words are what was measured."""

from benchmarks.lib.long_run import MEASURES
from benchmarks.lib.placements import LONG, played, wish
from benchmarks.lib.run_load import bodies
from benchmarks.puzzle import Load, Plan, growth_lines, load_lines
from games.puzzle.rules import Place, Record, replay

PLAN = Plan(2, 1.0, 4, 1, 60, (10, 100, 1_000), 5, 2)
SEED = bytes(32)


def test_the_placements_that_are_sent_are_a_run() -> None:
    samples = list(played(LONG, SEED, 60))
    assert [sample.run.turn for sample in samples] == list(range(60))
    commands = [Place(s.chosen.slot, s.chosen.rotation, s.chosen.at) for s in samples]
    replayed = replay(Record(LONG, SEED, tuple(commands)))
    assert (replayed.verdict, replayed.run.turn) == ("agrees", 60)
    assert bodies([wish(samples[0])])[0].startswith(b'{"turn":0,"slot":')


def test_growth_is_the_exponent_of_the_medians() -> None:
    flat = {name: {"10": [3.0, 3.0], "100": [3.0, 3.0], "1000": [3.0, 3.0]} for name in MEASURES}
    flat[MEASURES[1]] = {"10": [1.0, 1.0], "100": [10.0, 10.0], "1000": [100.0, 100.0]}
    rows = [line for line in growth_lines(PLAN, flat)[4:] if line.startswith("|")]
    assert [row.split("|")[-2].strip() for row in rows] == ["0.000", "1.000", *["0.000"] * 3]


def test_rates_are_compared_round_by_round() -> None:
    found = {
        "HTTP": [Load(100.0, 1.0, 2.0, 3.0, 0.1), Load(50.0, 1.0, 2.0, 3.0, 0.1)],
        "socket": [Load(300.0, 1.0, 2.0, 3.0, 0.1), Load(150.0, 1.0, 2.0, 3.0, 0.1)],
    }
    lines = load_lines(PLAN, [3_000.0, 1_500.0], found)
    assert "**3.00×** (median of 2 rounds, 3.00–3.00)" in lines[-2]
    assert "**10.00×**" in lines[-1]
