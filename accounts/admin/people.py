"""The admin's view of players, their tokens and inboxes."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.db.models.functions import Collate, Lower
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from oauth2_provider import models as oauth
from social_django.models import Association, Nonce, UserSocialAuth

from accounts.admin.base import PlayerLinkAdmin
from accounts.models import (
    AccessToken,
    InboxItem,
    NameChange,
    Player,
    RatingRow,
    VerifiedEmail,
)
from accounts.services.tokens import revoke_token
from common.admin import FastList, ReadOnly
from common.cards import player_page
from common.clock import now_ms

if TYPE_CHECKING:  # generic for the type checker only
    RatingTable = admin.TabularInline[RatingRow, Player]
    TokenTable = admin.TabularInline[AccessToken, Player]
    IdentityTable = admin.TabularInline[UserSocialAuth, Player]
    EmailTable = admin.TabularInline[VerifiedEmail, Player]
    NameTable = admin.TabularInline[NameChange, Player]
    CreationForm = AdminUserCreationForm[Player]
    UserModelAdmin = UserAdmin[Player]
else:
    RatingTable = TokenTable = admin.TabularInline
    IdentityTable = EmailTable = NameTable = admin.TabularInline
    CreationForm, UserModelAdmin = AdminUserCreationForm, UserAdmin


# social-auth's own pages could move a sign-in to another player; ours show it on the player's.
admin.site.unregister([Association, Nonce, UserSocialAuth])
# Of apps an operator sees, and deletes, the apps; what they were given follows from that.
admin.site.unregister([oauth.AccessToken, oauth.RefreshToken, oauth.Grant, oauth.IDToken])


RIGHTS = ("is_staff", "is_superuser", "groups", "password")


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
class PlayerAdmin(FastList, UserModelAdmin):
    """Unsetting `is_active` closes an account: tokens stop, ranks close up, games and ledger stay.

    Rights, passwords and accounts of staff are for superusers, whatever permissions others have.
    """

    list_display = ("name", "kind", "level", "is_active", "is_staff", "created_at")
    list_filter = ("kind", "is_active", "is_staff", "created_at")
    search_fields = ("name",)
    search_help_text = "The beginning of a name."
    ordering = ("-id",)
    indexed = ("is_staff__exact=1", "is_active__exact=0", "created_at")
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

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        begins = rows.annotate(lower_name=Collate(Lower("name"), "C"))
        found: QuerySet[Any] = begins.filter(lower_name__startswith=term.lower())
        return found

    def get_readonly_fields(self, request: HttpRequest, obj: Player | None = None) -> Any:
        fields = tuple(super().get_readonly_fields(request, obj))
        return fields if request.user.is_superuser else (*fields, *RIGHTS)

    def get_fieldsets(self, request: HttpRequest, obj: Player | None = None) -> Any:
        found = super().get_fieldsets(request, obj)
        return found if request.user.is_superuser or obj is None else found[:1]

    def has_change_permission(self, request: HttpRequest, obj: Player | None = None) -> bool:
        if obj is not None and obj.is_staff and not request.user.is_superuser:
            return False
        return super().has_change_permission(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Player | None = None) -> bool:
        return request.user.is_superuser

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:  # noqa: A002
        if not request.user.is_superuser:
            raise PermissionDenied
        return super().user_change_password(request, id, form_url)

    def get_urls(self) -> list[URLPattern]:
        own = path(
            "overview/<int:player_id>/",
            self.admin_site.admin_view(self.overview),
            name="accounts_player_overview",
        )
        return [own, *super().get_urls()]

    def overview(self, request: HttpRequest, player_id: int) -> HttpResponse:
        """Everything about one player on one page, as far as the viewer may see it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        player = self.model.objects.filter(pk=player_id).first()
        if player is None:
            raise Http404
        context = {
            **self.admin_site.each_context(request),
            "title": player.name,
            "opts": self.opts,
            "player": player,
            "cards": player_page.show(request.user, player_id, now_ms()),
            "may_change": self.has_change_permission(request, player),
        }
        return render(request, "accounts/admin/player.html", context)

    def get_inlines(self, request: HttpRequest, obj: Player | None) -> Any:
        return self.inlines if obj else ()

    @admin.display(description="See also")
    def see_also(self, player: Player) -> SafeString:
        """Links to the lists that are too long for this page."""
        query = f"?player__id__exact={player.pk}"
        return format_html(
            '<a href="{}">everything on one page</a> · <a href="{}">rating changes</a> · <a href="{}">scores</a>'
            ' · <a href="{}">inbox</a> · <a href="{}">tokens</a> · <a href="{}">friends</a> · <a href="{}">blocks</a>',
            reverse("admin:accounts_player_overview", args=[player.pk]),
            reverse("admin:accounts_ledgerrow_changelist") + query,
            reverse("admin:accounts_scoreentry_changelist") + query,
            reverse("admin:accounts_inboxitem_changelist") + query,
            reverse("admin:accounts_accesstoken_changelist") + query,
            reverse("admin:accounts_friendship_changelist", query={"q": player.name}),
            reverse("admin:accounts_block_changelist", query={"q": player.name}),
        )


@admin.register(InboxItem)
class InboxItemAdmin(ReadOnly, PlayerLinkAdmin):
    list_display = ("player_link", "version", "when", "payload")
    search_fields = ("player__name",)


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
    search_fields = ("player__name",)
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

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.change_accesstoken")

    @admin.action(description="Revoke the selected tokens", permissions=["revoke"])
    def revoke(self, request: HttpRequest, tokens: QuerySet[AccessToken]) -> None:
        chosen = list(tokens.filter(revoked_at=None))
        for token in chosen:
            revoke_token(player_id=token.player_id, token_id=token.pk)
        messages.success(request, f"{len(chosen)} tokens revoked.")
