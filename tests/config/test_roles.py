"""What each role may see and do in the admin site: every page of every model, and the pages of ours."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.test import Client, RequestFactory
from django.urls import reverse

from accounts.models import InboxItem, Player, Report, Sanction
from accounts.services.people import create_player
from accounts.services.reports import report_player
from accounts.services.sanctions import ban
from accounts.services.tokens import issue_token
from common.cards import dashboard, player_page
from config.roles import ROLES, codes, write_roles
from tests.games.territory.tables import started

pytestmark = pytest.mark.django_db

NOW = 1_800_000_000_000
MODERATOR, MANAGER, OPERATOR, SUPERUSER = (
    "moderator",
    "leaderboard manager",
    "operator",
    "superuser",
)
# What the pages of a model let each role do: v(iew), a(dd), c(hange), d(elete); nothing: neither list nor page opens.
PAGES = {
    "accounts.accesstoken": ("", "", "v", "v"),
    "accounts.block": ("v", "", "", "v"),
    "accounts.exclusion": ("v", "v", "", "v"),
    "accounts.friendship": ("v", "", "", "v"),
    "accounts.inboxitem": ("", "", "", "v"),
    "accounts.ledgerrow": ("v", "v", "", "v"),
    "accounts.player": ("vc", "v", "v", "vacd"),
    "accounts.ratingrow": ("v", "v", "", "v"),
    "accounts.report": ("v", "", "", "v"),
    "accounts.sanction": ("va", "", "", "va"),
    "accounts.scoreboard": ("v", "v", "", "v"),
    "accounts.scoreentry": ("v", "v", "", "v"),
    "accounts.season": ("", "vac", "", "vac"),
    "accounts.seasonline": ("", "v", "", "v"),
    "accounts.seasonplan": ("", "vac", "", "vac"),
    "accounts.standingdecision": ("v", "v", "", "v"),
    "accounts.standingjob": ("", "va", "", "va"),
    "auth.group": ("", "", "", "vacd"),
    "bots.analysis": ("v", "", "v", "v"),
    "bots.hint": ("v", "", "v", "v"),
    "bots.runhint": ("", "", "v", "v"),
    "matchmaking.challenge": ("v", "", "v", "v"),
    "matchmaking.pool": ("", "", "vac", "vacd"),
    "matchmaking.room": ("v", "", "v", "v"),
    "oauth2_provider.application": ("", "", "vd", "vacd"),
    "otp_static.staticdevice": ("", "", "", "vacd"),
    "otp_totp.totpdevice": ("", "", "", "vacd"),
    "puzzle.best": ("", "v", "v", "v"),
    "puzzle.daily": ("", "v", "v", "v"),
    "puzzle.run": ("v", "v", "v", "v"),
    "territory.engagement": ("v", "", "v", "v"),
    "territory.game": ("v", "v", "v", "v"),
}
DASHBOARD = {
    MODERATOR: {"Waiting for moderators"},
    MANAGER: set(),
    OPERATOR: {
        "Queues",
        "Games",
        "People",
        "Background work",
        "PostgreSQL",
        "Redis",
        "By the calendar",
    },
}
PLAYER_PAGE = {
    MODERATOR: {
        "Now",
        "Ticket",
        "Sanctions",
        "Reports and flags about this player",
        "Games",
        "Runs of the block puzzle",
        "Ratings",
        "Names",
        "Reports by this player",
    },
    MANAGER: {"Now", "Ticket", "Games", "Runs of the block puzzle", "Ratings", "Names"},
    OPERATOR: {
        "Now",
        "Ticket",
        "Games",
        "Runs of the block puzzle",
        "Sign-ins, tokens and apps",
    },
}


@pytest.fixture
def staff() -> dict[str, Client]:
    """A signed-in member of the staff of each role."""
    write_roles()
    found = {}
    for role in (*ROLES, SUPERUSER):
        person = create_player(name=f"Staff-{role.split()[0]}", staff=role == SUPERUSER)
        Player.objects.filter(pk=person.pk).update(is_staff=True)
        if role != SUPERUSER:
            person.groups.add(Group.objects.get(name=role))
        found[role] = Client()
        found[role].force_login(person)
    return found


def _models() -> Iterator[tuple[str, Any]]:
    for model, pages in admin.site._registry.items():
        yield model._meta.label_lower, pages


def test_every_page_has_its_row() -> None:
    assert {name for name, _ in _models()} == PAGES.keys()
    assert set(ROLES) == {MODERATOR, MANAGER, OPERATOR}


def test_each_role_opens_the_pages_of_the_models_that_it_is_for(staff: dict[str, Client]) -> None:
    for name, pages in _models():
        for role, may in zip(staff, PAGES[name], strict=True):
            case = f"{role} on {name}"
            address = f"admin:{name.replace('.', '_')}"
            request = RequestFactory().get("/")
            request.user = Player.objects.get(name=f"Staff-{role.split()[0]}")
            statuses = {"list": 200 if "v" in may else 403, "add": 200 if "a" in may else 403}
            assert staff[role].get(reverse(f"{address}_changelist")).status_code == statuses["list"], case  # fmt: skip
            assert staff[role].get(reverse(f"{address}_add")).status_code == statuses["add"], case
            assert pages.has_view_permission(request) == ("v" in may), case
            assert pages.has_change_permission(request) == ("c" in may), case
            assert pages.has_delete_permission(request) == ("d" in may), case


def test_each_role_has_its_cards(staff: dict[str, Client]) -> None:
    ada = create_player(name="Ada")
    address = reverse("admin:accounts_player_overview", args=[ada.pk])
    for page, url, expected in (
        (dashboard, "/admin/", DASHBOARD),
        (player_page, address, PLAYER_PAGE),
    ):
        everything = {place.title for place in page.places()}
        assert set().union(*expected.values()) == everything
        for role, client in staff.items():
            shown = client.get(url).content.decode()
            seen = {title for title in everything if f"<h2>{title}</h2>" in shown}
            assert seen == expected.get(role, everything), role
            assert "Not known: the log says why" not in shown


def test_who_may_work_on_reports_and_ban(staff: dict[str, Client]) -> None:
    ada, ben = create_player(name="Ada"), create_player(name="Ben")
    report = report_player(
        reporter_id=ada.pk, player=ben, kind="name", game_id="", words="", now=NOW
    )
    case = reverse("admin:accounts_report_case", args=[ben.pk])
    outcome = {"report": report.pk, "outcome": "dismissed", "note": "fine"}
    new_ban = {"player": "Ben", "kind": "queue", "span": "1d", "reason": "why"}
    for role in (MANAGER, OPERATOR):
        assert staff[role].get(reverse("admin:accounts_report_work")).status_code == 403
        assert staff[role].post(case, outcome).status_code == 403
        assert staff[role].post(f"{case}claim/").status_code == 403
        assert staff[role].post(reverse("admin:accounts_sanction_add"), new_ban).status_code == 403
    assert not Sanction.objects.exists()
    assert Report.objects.get().closed_at is None
    for role in (MODERATOR, SUPERUSER):
        assert staff[role].get(reverse("admin:accounts_report_work")).status_code == 200
        assert staff[role].post(f"{case}claim/").status_code == 302
        assert staff[role].post(reverse("admin:accounts_sanction_add"), new_ban).status_code == 302
    assert staff[MODERATOR].post(case, outcome).status_code == 302
    assert Report.objects.get().closed_by_name == "Staff-moderator"
    assert Sanction.objects.count() == 2


def test_a_moderator_changes_names_and_closes_accounts_and_gains_no_rights(
    staff: dict[str, Client],
) -> None:
    moderator = staff[MODERATOR]
    ada = create_player(name="Rude")
    address = reverse("admin:accounts_player_change", args=[ada.pk])
    page = moderator.get(address).content.decode()
    assert 'name="is_superuser"' not in page
    inlines = {
        f"{table}-{kind}_FORMS": "0"
        for table in ("ratings", "name_changes")
        for kind in ("TOTAL", "INITIAL")
    }
    form = {**inlines, "name": "Polite", "is_superuser": "on", "is_staff": "on", "groups": ["1"]}
    assert moderator.post(address, form).status_code == 302
    ada.refresh_from_db()
    assert (ada.name, ada.is_active, ada.is_staff, ada.is_superuser) == ("Polite", False, False, False)  # fmt: skip
    assert not ada.groups.exists()
    boss = Player.objects.get(name="Staff-superuser")
    for person in (ada, boss):
        password = reverse("admin:auth_user_password_change", args=[person.pk])
        new = {
            "password1": "another horse",
            "password2": "another horse",
            "usable_password": "true",
        }
        assert moderator.post(password, new).status_code == 403
    address = reverse("admin:accounts_player_change", args=[boss.pk])
    assert moderator.post(address, {"name": "Gone"}).status_code == 403
    boss.refresh_from_db()
    assert (boss.name, boss.is_active) == ("Staff-superuser", True)


def test_actions_are_for_those_who_may_change(staff: dict[str, Client]) -> None:
    ada = create_player(name="Ada")
    token, _ = issue_token(player_id=ada.pk, scopes=["play"])
    tokens = reverse("admin:accounts_accesstoken_changelist")
    chosen = {"action": "revoke", "_selected_action": [token.pk]}
    assert staff[MODERATOR].post(tokens, chosen).status_code == 403
    assert ada.tokens.filter(revoked_at=None).exists()
    staff[OPERATOR].post(tokens, chosen)
    assert not ada.tokens.filter(revoked_at=None).exists()
    made = ban(player_id=ada.pk, kind="play", reason="why", now=NOW)
    bans = reverse("admin:accounts_sanction_changelist")
    lift = {"action": "lift_bans", "_selected_action": [made.pk], "reason": ""}
    assert "write the reason" in staff[MODERATOR].post(bans, lift, follow=True).content.decode()
    staff[OPERATOR].post(bans, {**lift, "reason": "a mistake"})
    made.refresh_from_db()
    assert made.lifted_at is None
    staff[MODERATOR].post(bans, {**lift, "reason": "a mistake"})
    made.refresh_from_db()
    assert (made.lift_reason, made.lifted_by_name) == ("a mistake", "Staff-moderator")


def test_a_role_has_exactly_its_permissions_again_after_each_prepare() -> None:
    write_roles()
    group = Group.objects.get(name=MODERATOR)
    group.permissions.add(Permission.objects.get(codename="add_group"))
    group.permissions.remove(Permission.objects.get(codename="view_report"))
    write_roles()
    kept = group.permissions.values_list("content_type__app_label", "codename")
    assert {f"{app}.{code}" for app, code in kept} == codes(MODERATOR)


# The pages of ours


def test_the_work_list_leads_to_a_decision_that_bans(staff: dict[str, Client]) -> None:
    moderator = staff[MODERATOR]
    ada, ben = create_player(name="Ada"), create_player(name="Ben")
    game = started([ada.pk, ben.pk])
    report = report_player(
        reporter_id=ada.pk, player=ben, kind="cheating", game_id=game, words="<b>x</b>", now=NOW
    )
    work = reverse("admin:accounts_report_work")
    case = reverse("admin:accounts_report_case", args=[ben.pk])
    assert case in moderator.get(work).content.decode()
    page = moderator.get(case).content.decode()
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert game in page
    chosen = {"report": [report.pk], "outcome": "banned", "note": "sure"}
    again = moderator.post(case, chosen).content.decode()
    assert "This field is required" in again, "a ban needs a reason"
    assert (
        "A warning needs words"
        in moderator.post(case, {**chosen, "outcome": "warned"}).content.decode()
    )
    assert not Sanction.objects.exists()
    the_ban = {"ban-kind": "play", "ban-span": "7d", "ban-reason": "A program played."}
    assert moderator.post(case, {**chosen, **the_ban}).status_code == 302
    made = Sanction.objects.get()
    assert made.until is not None
    assert (made.player, made.until - made.made_at) == (ben, 7 * 24 * 3_600_000)
    assert "Nothing waits" in moderator.get(work).content.decode()
    told = json.loads(InboxItem.objects.get(player=ada).payload)
    assert told["acted"]
    page = moderator.get(reverse("admin:accounts_player_overview", args=[ben.pk])).content.decode()
    for text in (
        "A program played.",
        "in force",
        "off the leaderboards",
        "banned by Staff-moderator",
    ):
        assert text in page


def test_pages_about_nobody(staff: dict[str, Client]) -> None:
    for name in ("accounts_player_overview", "accounts_report_case"):
        for nobody in (0, 99_999_999_999):
            address = reverse(f"admin:{name}", args=[nobody])
            assert staff[SUPERUSER].get(address).status_code == 404


@pytest.mark.parametrize("asked", ["", "x", "-1", "99999999999999999999", "0"])
def test_the_work_list_and_the_ban_page_bear_any_query(
    staff: dict[str, Client], asked: str
) -> None:
    client = staff[SUPERUSER]
    assert client.get(reverse("admin:accounts_report_work"), {"from": asked}).status_code == 200
    assert client.get(reverse("admin:accounts_sanction_add"), {"player": asked}).status_code == 200
