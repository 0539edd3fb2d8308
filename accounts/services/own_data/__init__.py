"""What accounts keeps of a person: given out and removed (accounts/personal.py)."""

from accounts import personal
from accounts.services.own_data import (
    credentials,
    friends,
    inbox,
    moderation,
    people,
    standing,
)


def register_sections() -> None:
    """Called when the app is ready."""
    personal.register(
        "account",
        shape=people.AccountData,
        export=people.export_account,
        erase=people.erase_account,
        rename=people.rename_in_admin_log,
        tables=("accounts.Player_groups", "accounts.Player_user_permissions"),
        kept={"admin.LogEntry": "what staff did in the admin site; the names in it are replaced"},
    )
    personal.register(
        "names",
        shape=list[people.NameChangeData],
        export=people.export_names,
        erase=people.erase_names,
        tables=("accounts.NameChange",),
    )
    personal.register(
        "sign_ins",
        shape=credentials.SignInsData,
        export=credentials.export_sign_ins,
        erase=credentials.erase_sign_ins,
        tables=("social_django.UserSocialAuth", "accounts.VerifiedEmail"),
    )
    personal.register(
        "second_factors",
        shape=list[credentials.DeviceData],
        export=credentials.export_devices,
        erase=credentials.erase_devices,
        tables=("otp_totp.TOTPDevice", "otp_static.StaticDevice"),
    )
    personal.register(
        "tokens",
        shape=list[credentials.TokenData],
        export=credentials.export_tokens,
        erase=credentials.erase_tokens,
        tables=("accounts.AccessToken",),
    )
    personal.register(
        "apps",
        shape=credentials.AppsData,
        export=credentials.export_apps,
        erase=credentials.erase_apps,
        tables=(
            *("oauth2_provider.Application", "oauth2_provider.Grant"),
            *("oauth2_provider.AccessToken", "oauth2_provider.RefreshToken"),
            *("oauth2_provider.IDToken", "oauth2_provider.DeviceGrant"),
        ),
    )
    personal.register(
        "friends",
        shape=friends.FriendsData,
        export=friends.export_friends,
        erase=friends.erase_friends,
        tables=("accounts.Friendship", "accounts.Block"),
    )
    personal.register(
        "inbox",
        shape=list[inbox.ItemData],
        export=inbox.export_inbox,
        erase=inbox.erase_inbox,
        rename=inbox.rename_in_inboxes,
        tables=("accounts.InboxHead", "accounts.InboxItem"),
    )
    personal.register(
        "ratings",
        shape=standing.RatingsData,
        export=standing.export_ratings,
        erase=standing.erase_ratings,
        tables=("accounts.Exclusion",),
        kept={
            "accounts.RatingRow": "opponents' ratings are computed from it; it has no name",
            "accounts.LedgerRow": "opponents' ratings are computed from it; it has no name",
        },
    )
    personal.register(
        "scores",
        shape=list[standing.ScoreData],
        export=standing.export_scores,
        erase=standing.erase_scores,
        rename=standing.rename_in_decisions,
        tables=("accounts.ScoreEntry",),
        kept={
            "accounts.StandingDecision": "who decided what, and why; the names in it are replaced",
            "accounts.StandingJob": "what admins asked for; the names in it are replaced",
        },
    )
    personal.register(
        "seasons",
        shape=list[standing.SeasonLineData],
        export=standing.export_seasons,
        erase=standing.erase_seasons,
        rename=standing.rename_in_seasons,
        kept={"accounts.SeasonLine": "the ranks of others follow from it; the name is replaced"},
    )
    personal.register(
        "sanctions",
        shape=list[moderation.SanctionData],
        export=moderation.export_sanctions,
        erase=moderation.erase_sanctions,
        rename=moderation.rename_in_moderation,
        tables=("accounts.Sanction",),
    )
    personal.register(
        "reports",
        shape=moderation.ReportsData,
        export=moderation.export_reports,
        erase=moderation.erase_reports,
        tables=("accounts.Report",),
    )
    personal.exempt("accounts.Erasure", "says that somebody was erased, and not who")
