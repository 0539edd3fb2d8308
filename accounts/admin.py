"""The admin's view of people and standing. What services keep consistent (ratings, inbox, ledger) is read only."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.db.models import OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Lower
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from oauth2_provider import models as oauth
from social_django.models import Association, Nonce, UserSocialAuth

from accounts import selectors
from accounts.models import (
    AccessToken,
    InboxItem,
    LeaderboardBucket,
    LedgerRow,
    NameChange,
    Player,
    RatingRow,
    ScoreBoard,
    ScoreDecision,
    ScoreEntry,
    VerifiedEmail,
)
from accounts.rules import Rating
from accounts.services.scores import remove_score, restore_score
from accounts.services.tokens import revoke_token
from common.admin import BoundedPaginator, ReadOnly
from common.clock import rfc3339

if TYPE_CHECKING:  # generic for the type checker only
    RatingTable = admin.TabularInline[RatingRow, Player]
    TokenTable = admin.TabularInline[AccessToken, Player]
    IdentityTable = admin.TabularInline[UserSocialAuth, Player]
    EmailTable = admin.TabularInline[VerifiedEmail, Player]
    NameTable = admin.TabularInline[NameChange, Player]
    CreationForm = AdminUserCreationForm[Player]
    UserModelAdmin = UserAdmin[Player]
    OwnedModelAdmin = admin.ModelAdmin[Any]
else:
    RatingTable = TokenTable = admin.TabularInline
    IdentityTable = EmailTable = NameTable = admin.TabularInline
    CreationForm, UserModelAdmin, OwnedModelAdmin = (
        AdminUserCreationForm,
        UserAdmin,
        admin.ModelAdmin,
    )


# social-auth's own pages could move a sign-in to another player; ours show it on the player's.
admin.site.unregister([Association, Nonce, UserSocialAuth])
# Of apps an operator sees, and deletes, the apps; what they were given follows from that.
admin.site.unregister([oauth.AccessToken, oauth.RefreshToken, oauth.Grant, oauth.IDToken])


class RatingInline(ReadOnly, RatingTable):
    model = RatingRow
    fields = ("key", "mu", "sigma", "games")
    ordering = ("key",)


class TokenInline(ReadOnly, TokenTable):
    """Tokens without their digests; revoke them on their own page."""

    model = AccessToken
    fields = ("label", "hint", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at")


class IdentityInline(ReadOnly, IdentityTable):
    """By what the player signs in."""

    model = UserSocialAuth
    verbose_name, verbose_name_plural = "sign-in", "sign-ins"
    fields = readonly_fields = ("provider", "uid", "created", "modified")


class EmailInline(ReadOnly, EmailTable):
    model = VerifiedEmail
    fields = ("address", "confirmed_at")


class NameInline(ReadOnly, NameTable):
    model = NameChange
    fields = ("old", "new", "cause", "at")


class NewPlayerForm(CreationForm):
    class Meta:
        model = Player
        fields = ("name",)


@admin.register(Player)
class PlayerAdmin(UserModelAdmin):
    """Banning is unsetting `is_active`: tokens stop, ranks close up, games and ledger stay."""

    list_display = ("name", "kind", "level", "is_active", "is_staff", "created_at")
    list_filter = ("kind", "is_active", "is_staff", "created_at")
    search_fields = ("^name",)
    ordering = ("-id",)
    show_full_result_count = False
    readonly_fields = ("kind", "level", "created_at", "last_login", "see_also")
    filter_horizontal = ()
    add_form = NewPlayerForm
    inlines = (RatingInline, TokenInline, IdentityInline, EmailInline, NameInline)
    fieldsets = (
        (None, {"fields": ("name", "kind", "level", "is_active", "created_at", "see_also")}),
        (
            "Admin site",
            {"fields": ("password", "is_staff", "is_superuser", "groups", "last_login")},
        ),
    )
    add_fieldsets = ((None, {"fields": ("name", "usable_password", "password1", "password2")}),)
    autocomplete_fields = ("groups",)

    def save_model(self, request: HttpRequest, obj: Player, form: Any, change: bool) -> None:
        """Save it; a new name leaves the old one in the history, and reserved."""
        super().save_model(request, obj, form, change)
        if change and "name" in form.changed_data:
            NameChange.objects.create(
                player=obj,
                old=form.initial["name"],
                new=obj.name,
                cause=NameChange.Cause.OPERATOR,
            )

    def get_inlines(self, request: HttpRequest, obj: Player | None) -> Any:
        return self.inlines if obj else ()

    @admin.display(description="See also")
    def see_also(self, player: Player) -> SafeString:
        """Links to the lists that are too long for this page."""
        query = f"?player__id__exact={player.pk}"
        return format_html(
            '<a href="{}">rating changes</a> · <a href="{}">scores</a> · <a href="{}">inbox</a>'
            ' · <a href="{}">tokens</a>',
            reverse("admin:accounts_ledgerrow_changelist") + query,
            reverse("admin:accounts_scoreentry_changelist") + query,
            reverse("admin:accounts_inboxitem_changelist") + query,
            reverse("admin:accounts_accesstoken_changelist") + query,
        )


class PlayerLinkAdmin(OwnedModelAdmin):
    """The base of lists of things that belong to a player."""

    list_select_related = ("player",)
    show_full_result_count = False
    ordering = ("-id",)

    @admin.display(description="player", ordering="player__name")
    def player_link(self, row: Any) -> SafeString:
        return format_html(
            '<a href="{}">{}</a>',
            reverse("admin:accounts_player_change", args=[row.player_id]),
            row.player.name,
        )

    @admin.display(description="at", ordering="at")
    def when(self, row: Any) -> str:
        return rfc3339(row.at)


@admin.register(RatingRow)
class RatingAdmin(ReadOnly, PlayerLinkAdmin):
    """Ratings follow from the ledger."""

    list_display = ("key", "player_link", "shown", "mu", "sigma", "games")
    search_fields = ("^player__name", "=key")
    list_filter = (("player__kind", admin.ChoicesFieldListFilter),)

    @admin.display(description="shown", ordering="mu")
    def shown(self, row: RatingRow) -> str:
        return str(Rating(row.mu, row.sigma, row.games))


@admin.register(LedgerRow)
class LedgerAdmin(ReadOnly, PlayerLinkAdmin):
    list_display = ("when", "key", "player_link", "sequence", "rank", "before", "after", "game_id")
    search_fields = ("^player__name", "=game_id", "=key")
    list_filter = ("rank",)

    @admin.display(description="before")
    def before(self, row: LedgerRow) -> str:
        return row.change.before

    @admin.display(description="after")
    def after(self, row: LedgerRow) -> str:
        return row.change.after


@admin.register(InboxItem)
class InboxItemAdmin(ReadOnly, PlayerLinkAdmin):
    list_display = ("player_link", "version", "when", "payload")
    search_fields = ("^player__name",)


@admin.register(AccessToken)
class AccessTokenAdmin(ReadOnly, PlayerLinkAdmin):
    """Tokens can be revoked; they are issued by their owners or by `manage.py create_player`."""

    list_display = (
        "player_link",
        "label",
        "hint",
        "scopes",
        "created_at",
        "expires_at",
        "revoked_at",
    )
    list_filter = ("created_at", "revoked_at")
    search_fields = ("^player__name",)
    fields = (
        "player",
        "label",
        "hint",
        "scopes",
        "created_at",
        "expires_at",
        "revoked_at",
        "last_used_at",
    )
    actions = ("revoke",)

    @admin.action(description="Revoke the selected tokens")
    def revoke(self, request: HttpRequest, tokens: QuerySet[AccessToken]) -> None:
        chosen = list(tokens.filter(revoked_at=None))
        for token in chosen:
            revoke_token(player_id=token.player_id, token_id=token.pk)
        messages.success(request, f"{len(chosen)} tokens revoked.")


@admin.register(ScoreBoard)
class ScoreBoardAdmin(ReadOnly, OwnedModelAdmin):
    """Boards of scores, and how many lines they list, by the counts that are kept of them."""

    list_display = ("key", "listed", "final_since", "see_also")
    search_fields = ("^key",)
    list_filter = (("frozen_at", admin.EmptyFieldListFilter),)
    ordering = ("key",)
    paginator = BoundedPaginator
    show_full_result_count = False
    fields = ("key", "listed", "final_since", "see_also")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ScoreBoard]:
        buckets = LeaderboardBucket.objects.filter(board=OuterRef("key")).values("board")
        listed = Subquery(buckets.annotate(sum=Sum("entries")).values("sum"))
        boards: QuerySet[ScoreBoard] = super().get_queryset(request)
        return boards.annotate(listed=listed)

    @admin.display(description="lines")
    def listed(self, board: Any) -> int:
        return board.listed or 0

    @admin.display(description="frozen at", ordering="frozen_at")
    def final_since(self, board: ScoreBoard) -> str:
        return "" if board.frozen_at is None else rfc3339(board.frozen_at)

    @admin.display(description="See also")
    def see_also(self, board: ScoreBoard) -> SafeString:
        query = urlencode({"board__exact": board.pk})
        return format_html(
            '<a href="{}?{}">lines</a> · <a href="{}?{}">decisions</a>',
            reverse("admin:accounts_scoreentry_changelist"),
            query,
            reverse("admin:accounts_scoredecision_changelist"),
            query,
        )


class ListedFilter(admin.SimpleListFilter):
    """The lines that are listed, unless one asks for the others: there is an index for each."""

    title = "listed"
    parameter_name = "unlisted"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("1", "No: removed, or not eligible")]

    def choices(self, changelist: Any) -> Any:
        """Django's, but that nothing chosen is not "All"."""
        first, *others = super().choices(changelist)
        return [{**first, "display": "Yes"}, *others]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(listed=self.value() is None)


class ReasonForm(ActionForm):
    reason = forms.CharField(
        max_length=500,
        required=False,
        widget=forms.TextInput({"placeholder": "Reason", "size": 40}),
    )


@admin.register(ScoreEntry)
class ScoreEntryAdmin(ReadOnly, PlayerLinkAdmin):
    """Lines of boards. The board list leads to those of one board, in its order."""

    list_display = ("board_id", "player_link", "score", "placements", "finished", "source", "state")
    list_filter = (ListedFilter,)
    search_fields = ("player__name",)
    search_help_text = "A player's whole name, or a board's key."
    paginator = BoundedPaginator
    fields = (*list_display, "rank")
    actions = ("remove", "restore")
    action_form = ReasonForm
    MOST_AT_ONCE = 200

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """One board in its order; else the newest first: each is the order of an index."""
        return ("place",) if "board__exact" in request.GET else ("-id",)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """A name or a key as a whole, which the indexes find."""
        term = search_term.strip().replace("\0", "")
        if ":" in term:
            queryset = queryset.filter(board=term)
        elif term:
            named = Player.objects.annotate(lower_name=Lower("name"))
            queryset = queryset.filter(player__in=named.filter(lower_name=term.lower()))
        return queryset, False

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.change_scoreentry")

    @admin.display(description="finished at", ordering="finished_at")
    def finished(self, entry: ScoreEntry) -> str:
        return rfc3339(entry.finished_at)

    @admin.display(description="state")
    def state(self, entry: ScoreEntry) -> str:
        return "removed" if entry.removed else "listed" if entry.listed else "not eligible"

    @admin.display(description="rank")
    def rank(self, entry: ScoreEntry) -> str:
        rank = selectors.leaderboard_rank(entry.board_id, entry.player_id)
        return "–" if rank is None else f"{rank:,}"

    @admin.action(description="Remove the selected lines, for the reason", permissions=["decide"])
    def remove(self, request: HttpRequest, entries: QuerySet[ScoreEntry]) -> None:
        self._decide(request, entries.filter(removed=False), remove_score)

    @admin.action(description="Restore the selected lines, for the reason", permissions=["decide"])
    def restore(self, request: HttpRequest, entries: QuerySet[ScoreEntry]) -> None:
        self._decide(request, entries.filter(removed=True), restore_score)

    def _decide(
        self, request: HttpRequest, entries: QuerySet[ScoreEntry], decide: Callable[..., None]
    ) -> None:
        reason = request.POST.get("reason", "").strip()[:500]
        chosen = list(entries[: self.MOST_AT_ONCE + 1])
        if not reason:
            messages.error(request, "Nothing was done: write the reason beside the action.")
        elif len(chosen) > self.MOST_AT_ONCE:
            messages.error(request, f"Nothing was done: choose {self.MOST_AT_ONCE} at most.")
        else:
            for entry in chosen:
                decide(
                    board=entry.board_id,
                    player_id=entry.player_id,
                    by=request.user.pk,
                    reason=reason,
                )
            messages.success(request, f"Done with {len(chosen)} lines; see the decisions.")


@admin.register(ScoreDecision)
class ScoreDecisionAdmin(ReadOnly, PlayerLinkAdmin):
    """What admins have removed and restored. Never changed."""

    list_display = (
        "when",
        "action",
        "board_id",
        "player_name",
        "rank",
        "score",
        "by_name",
        "reason",
    )
    list_filter = ("action",)
    search_fields = ("=player_name", "=by_name", "=board__key")
    fields = (*list_display, "placements", "finished", "source")

    @admin.display(description="finished at")
    def finished(self, decision: ScoreDecision) -> str:
        return rfc3339(decision.finished_at)
