"""Names, the shown rating, and how long a rating stays provisional."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts import rules
from accounts.rules import Rating, RatingChange


@pytest.mark.parametrize("name", ["Ada", "ab", "A-b_9", "x" * 24, "z0"])
def test_names(name: str) -> None:
    assert rules.is_name(name)


@pytest.mark.parametrize(
    "name", ["", "a", "x" * 25, "9lives", "_ada", "-ada", "a b", "Ada\n", "Jürgen", "a.b", "ab\0"]
)
def test_what_is_no_name(name: str) -> None:
    assert not rules.is_name(name)


def test_names_of_guests_and_cpu_players_are_reserved_in_any_case() -> None:
    assert rules.is_reserved("Guest-1")
    assert rules.is_reserved("cPu-Starter")
    assert not rules.is_reserved("Guesthouse")


@pytest.mark.parametrize(
    ("mu", "text"), [(1533.5, "1534"), (1533.49, "1533"), (1534.5, "1535"), (-0.5, "0")]
)
def test_the_shown_rating_rounds_halves_up(mu: float, text: str) -> None:
    assert str(Rating(mu, sigma=100)) == text


def test_an_uncertain_rating_is_shown_with_a_question_mark() -> None:
    assert str(Rating()) == "1500?"
    assert str(Rating(1500, rules.PROVISIONAL_SIGMA)) == "1500?"
    assert str(Rating(1500, rules.PROVISIONAL_SIGMA - 0.001)) == "1500"


def test_a_change_shows_both_sides() -> None:
    change = RatingChange(
        player_id=1, rank=1, mu_before=1500, sigma_before=500, mu_after=1657.6, sigma_after=299
    )
    assert (change.before, change.after) == ("1500?", "1658")


def _games_until_settled(opponent_after: Callable[[Rating], Rating]) -> int:
    me, opponent = Rating(), opponent_after(Rating())
    while me.provisional:
        ranks = [1, 2] if me.games % 2 else [2, 1]
        me, opponent = rules.rate([me, opponent], ranks)
        opponent = opponent_after(opponent)
    return me.games


def test_the_games_that_a_newcomer_stays_provisional() -> None:
    """The figures that the choice of `PROVISIONAL_SIGMA` rests on."""
    assert _games_until_settled(lambda _: Rating(1500, 100, 50)) == 11
    assert _games_until_settled(lambda opponent: opponent) == 20


@given(
    st.lists(
        st.tuples(st.floats(0, 3000), st.floats(60, 500), st.integers(1, 4)), min_size=2, max_size=4
    )
)
def test_a_game_moves_ratings_the_way_of_its_ranks(players: list[tuple[float, float, int]]) -> None:
    before = [Rating(mu, sigma) for mu, sigma, _ in players]
    ranks = [rank for _, _, rank in players]
    after = rules.rate(before, ranks)
    assert [r.games for r in after] == [1] * len(players)
    best, worst = min(ranks), max(ranks)
    for old, new, rank in zip(before, after, ranks, strict=True):
        if best < worst and ranks.count(best) == 1 and rank == best:
            assert new.mu >= old.mu
        if best < worst and ranks.count(worst) == 1 and rank == worst:
            assert new.mu <= old.mu


# Names


@given(st.lists(st.text(max_size=40), max_size=4))
def test_whatever_a_provider_suggests_a_name_comes_of_it(texts: list[str]) -> None:
    name = rules.name_from(texts)
    assert rules.is_name(name)
    assert not rules.is_reserved(name)


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        ([], "Player"),
        (["ada@example.org"], "Player"),
        (["ada@example.org", "Ada"], "Ada"),
        (["  Zoë  van Dijk "], "Zoe-van-Dijk"),
        (["9lives"], "lives"),
        (["x", "Guest-1", "cpu-x", "Real_Name"], "Real_Name"),
        (["A" * 40], "A" * 24),
    ],
)
def test_the_first_text_that_yields_a_name_counts(texts: list[str], name: str) -> None:
    assert rules.name_from(texts) == name


@pytest.mark.parametrize("kind", ["guest", "registered", "bot"])
def test_what_a_kind_of_player_may(kind: str) -> None:
    scopes = rules.scopes_of(kind)
    assert (rules.Scope.BOT in scopes) == (kind == "bot")
    assert (rules.Scope.FRIENDS in scopes) == (kind != "guest")
    assert rules.Scope.PLAY in scopes


def test_an_app_can_be_allowed_all_that_a_person_may() -> None:
    assert rules.SCOPE_WORDS.keys() == rules.PERSON_SCOPES
