"""The roles of the admin site: Django groups, each with exactly these permissions. `manage.py prepare` writes them.

A migration could not: the permissions of a model are made after all migrations. And what a role may do belongs to a
version, so every `prepare` makes it so again; a change by hand does not last. Rights beyond these are superusers'.
"""

from collections.abc import Mapping
from typing import Final

from django.contrib.auth.models import Group, Permission
from django.db import transaction

VIEW, CHANGE, ADD, DELETE = "view", "change", "add", "delete"
ROLES: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "moderator": {
        "accounts.player": (VIEW, CHANGE),  # a name that cannot stay, an account that must close
        "accounts.report": (VIEW, CHANGE),
        "accounts.sanction": (VIEW, ADD, CHANGE),
        "accounts.namechange": (VIEW,),
        "accounts.friendship": (VIEW,),
        "accounts.block": (VIEW,),
        "accounts.ratingrow": (VIEW,),
        "accounts.ledgerrow": (VIEW,),
        "accounts.scoreentry": (VIEW,),
        "accounts.scoreboard": (VIEW,),
        "accounts.standingdecision": (VIEW,),
        "accounts.exclusion": (VIEW,),
        "territory.game": (VIEW,),
        "territory.seat": (VIEW,),
        "territory.engagement": (VIEW,),
        "matchmaking.room": (VIEW,),
        "matchmaking.challenge": (VIEW,),
        "puzzle.run": (VIEW,),
        "bots.hint": (VIEW,),
        "bots.analysis": (VIEW,),
    },
    "leaderboard manager": {
        "accounts.player": (VIEW,),
        "accounts.namechange": (VIEW,),
        "accounts.ratingrow": (VIEW, "recompute_ratings"),
        "accounts.ledgerrow": (VIEW, "annul_game"),
        "accounts.exclusion": (VIEW, "exclude_player"),
        "accounts.scoreboard": (VIEW, "freeze_board"),
        "accounts.scoreentry": (VIEW, CHANGE),
        "accounts.season": (VIEW, "manage_season"),
        "accounts.seasonplan": (VIEW,),
        "accounts.seasonline": (VIEW,),
        "accounts.standingjob": (VIEW,),
        "accounts.standingdecision": (VIEW,),
        "territory.game": (VIEW,),
        "territory.seat": (VIEW,),
        "puzzle.run": (VIEW,),
        "puzzle.best": (VIEW,),
        "puzzle.daily": (VIEW,),
    },
    "operator": {
        "accounts.player": (VIEW, "view_dashboard"),
        "accounts.accesstoken": (VIEW, CHANGE),  # revoke
        "territory.game": (VIEW,),
        "territory.seat": (VIEW,),
        "territory.engagement": (VIEW,),
        "puzzle.run": (VIEW,),
        "puzzle.daily": (VIEW,),
        "puzzle.best": (VIEW,),
        "matchmaking.pool": (VIEW, ADD, CHANGE),
        "matchmaking.room": (VIEW,),
        "matchmaking.challenge": (VIEW,),
        "bots.hint": (VIEW,),
        "bots.runhint": (VIEW,),
        "bots.analysis": (VIEW,),
        "oauth2_provider.application": (VIEW, DELETE),
    },
}


def codes(role: str) -> set[str]:
    """The permissions of a role, as `app.codename`."""
    found = set()
    for model, actions in ROLES[role].items():
        app, _, name = model.partition(".")
        found |= {f"{app}.{each}" if "_" in each else f"{app}.{each}_{name}" for each in actions}
    return found


@transaction.atomic
def write_roles() -> None:
    """Make the groups, and give each its permissions. Raises LookupError for a permission that does not exist."""
    known = {
        f"{each.content_type.app_label}.{each.codename}": each
        for each in Permission.objects.select_related("content_type")
    }
    for role in ROLES:
        wanted = codes(role)
        if missing := wanted - known.keys():
            raise LookupError(f"no such permissions: {', '.join(sorted(missing))}")
        group, _ = Group.objects.get_or_create(name=role)
        group.permissions.set([known[code] for code in sorted(wanted)])
