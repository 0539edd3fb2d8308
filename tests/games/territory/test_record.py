"""The record of a game that the service has played; whole games at random are in test_state.py."""

import msgspec
import pytest

from games.territory.record import record_of
from games.territory.rules import TimeControl
from tests.games.territory.support import BLITZ, DAYS, NO_CLOCK, NOW, begin


@pytest.mark.parametrize(
    ("control", "said"),
    [
        (BLITZ, {"TM": ("120",), "OT": ("2 seconds more for each move",)}),
        (TimeControl.realtime(90_500), {"TM": ("90.5",)}),
        (DAYS, {"OT": ("172800 seconds for each move",)}),
        (NO_CLOCK, {}),
    ],
)
def test_a_record_says_what_the_game_was(
    control: TimeControl, said: dict[str, tuple[str, ...]]
) -> None:
    record = record_of([(begin("classic-3", control).started, NOW)])
    assert record.nodes[0].properties == {"GN": ("Game00000001",), "EV": ("rated, p",), **said}
    assert (record.players, record.date) == (("Player0", "Player1", "Player2"), "2027-01-15")
    assert record.result is None
    casual = msgspec.structs.replace(begin(rated=False).started, pool=None)
    assert record_of([(casual, NOW)]).nodes[0].properties["EV"] == ("casual",)
