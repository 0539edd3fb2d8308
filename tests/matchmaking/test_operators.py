"""What operators have: the seed, the admin site, and what the database refuses."""

from io import StringIO

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client

from accounts.services.people import create_player
from matchmaking.models import Pool
from matchmaking.pools import Pools
from matchmaking.services.tickets import join_pool
from tests.matchmaking.people import BLITZ, NOW, registered, seed

pytestmark = pytest.mark.django_db(transaction=True)


def test_seeding_twice_changes_nothing() -> None:
    out = StringIO()
    call_command("seed_pools", stdout=out)
    assert out.getvalue().count("created") == 12
    Pool.objects.filter(key=BLITZ).update(open=False)
    out = StringIO()
    call_command("seed_pools", stdout=out)
    assert out.getvalue() == "12 pools\n"
    assert not Pool.objects.get(key=BLITZ).open
    for row in Pool.objects.all():
        row.full_clean()


@pytest.mark.parametrize(
    "change",
    [
        {"variant": "nonsense"},
        {"key": "Duo Blitz"},
        {"initial_ms": 0},
        {"kind": "correspondence"},
        {"window_limit": 0},
        {"min_rating": 1600, "max_rating": 1500},
    ],
)
def test_pools_that_are_refused(change: dict[str, object]) -> None:
    fields = {"key": "x", "variant": "duo", "initial_ms": 1_000, "increment_ms": 1} | change
    with pytest.raises(ValidationError):
        Pool(**fields).full_clean()
    if "variant" not in change:
        with pytest.raises(IntegrityError), transaction.atomic():
            Pool.objects.create(**fields)


def test_the_admin_shows_who_waits_and_changes_pools(store: Pools) -> None:
    seed()
    (one,) = registered(1)
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    client = Client()
    client.force_login(create_player(name="Operator", staff=True, password="long enough"))
    page = client.get("/admin/matchmaking/pool/?q=blitz&rated__exact=1").content.decode()
    assert '<td class="field-waiting_now">1</td>' in page
    assert "2+3" in page
    row = Pool.objects.get(key=BLITZ)
    form = {
        "key": BLITZ, "variant": "duo", "kind": "realtime", "initial_ms": 60_000, "increment_ms": 0,
        "rated": "on", "window_limit": 300, "min_rating": "", "max_rating": "",
        "bots": "only",
    }  # fmt: skip
    assert client.post(f"/admin/matchmaking/pool/{row.pk}/change/", form).status_code == 302
    row.refresh_from_db()
    assert (row.initial_ms, row.window_limit, row.open) == (60_000, 300, False)
    assert row.bots == "only"
