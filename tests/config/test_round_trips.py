"""What is known of the way to a client: the median of what the server measured lately."""

from config.round_trips import KEPT, RoundTrips


def measured(*seconds: float) -> int | None:
    trips = RoundTrips()
    for each in seconds:
        trips.add(each)
    return trips.lag_ms


def test_nothing_is_known_before_the_first_answer() -> None:
    assert measured() is None


def test_it_is_the_lower_median() -> None:
    assert measured(0.080) == 80
    assert measured(0.080, 0.020) == 20
    assert measured(0.080, 0.020, 0.050) == 50


def test_a_few_late_answers_do_not_move_it() -> None:
    assert measured(*[0.040] * 5, 9.0, 9.0, 9.0) == 40


def test_what_was_long_ago_is_forgotten() -> None:
    assert measured(*[9.0] * KEPT, *[0.030] * KEPT) == 30


def test_a_clock_that_is_set_back_gives_nothing() -> None:
    assert measured(-1.0) == 0
