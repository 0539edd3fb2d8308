"""The moderators' work: a list of players about whom something is open, and one page a player to decide it."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST

from accounts.admin.base import PlayerLinkAdmin, own_id
from accounts.admin.cards import short
from accounts.admin.sanctions import BanForm
from accounts.models import Player, Report
from accounts.selectors import reports as selectors
from accounts.selectors.sanctions import sanctions_of
from accounts.services.reports import Punishment, claim_case, close_reports, release_case
from common.admin import ReadOnly
from common.clock import now_ms, rfc3339
from common.errors import KadoError


class OutcomeForm(forms.Form):
    """What the moderator decides. Only `warned` wants words for the player; a ban has its own form."""

    outcome = forms.ChoiceField(choices=Report.Outcome.choices, widget=forms.RadioSelect)
    note = forms.CharField(
        max_length=1000,
        widget=forms.Textarea({"rows": 2}),
        help_text="Why, for other moderators; nobody else reads it.",
    )
    warning = forms.CharField(
        max_length=500,
        required=False,
        widget=forms.Textarea({"rows": 2}),
        label="Words to the player",
        help_text="With a warning only.",
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("outcome") == Report.Outcome.WARNED and not data.get("warning", "").strip():
            self.add_error("warning", "A warning needs words to the player.")
        return data


@admin.register(Report)
class ReportAdmin(ReadOnly, PlayerLinkAdmin):
    """All reports and flags, the newest first; what is open is decided in the work list."""

    list_display = ("player_link", "kind", "when", "source", "words_shown", "outcome", "claimed_by")
    list_filter = (("closed_at", admin.EmptyFieldListFilter),)
    list_select_related = ("player", "reporter", "other", "claimed_by")
    search_fields = ("player__name",)
    ordering = ("-at",)
    fields = (
        *("player_link", "kind", "when", "source", "game_id", "words", "evidence"),
        *("claimed_by", "closed", "closed_by_name", "outcome", "note", "sanction"),
    )
    readonly_fields = fields

    @admin.display(description="by")
    def source(self, report: Report) -> str:
        return str(report.reporter) if report.reporter else f"the rules, with {report.other}"

    @admin.display(description="words")
    def words_shown(self, report: Report) -> str:
        words = report.words if report.evidence is None else str(report.evidence.get("words", ""))
        return words[:120]

    @admin.display(description="closed at")
    def closed(self, report: Report) -> str:
        return "" if report.closed_at is None else rfc3339(report.closed_at)

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        own = [
            path("work/", wrap(self.work), name="accounts_report_work"),
            path("work/<int:player_id>/", wrap(self.case), name="accounts_report_case"),
            path(
                "work/<int:player_id>/claim/",
                wrap(require_POST(self.claim)),
                name="accounts_report_claim",
            ),
        ]
        return own + super().get_urls()

    def work(self, request: HttpRequest) -> HttpResponse:
        """The players about whom something is open, the longest waiting first."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        asked = request.GET.get("from", "0")
        first = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 8 else 0
        cases = selectors.open_cases(limit=selectors.PAGE + 1, offset=first)
        more = len(cases) > selectors.PAGE
        context = {
            "title": "Work list",
            "cases": [(case, short(case.oldest)) for case in cases[: selectors.PAGE]],
            "next": first + selectors.PAGE if more else None,
            "may_decide": self._may_decide(request),
        }
        return self._page(request, "accounts/admin/work.html", context)

    def case(self, request: HttpRequest, player_id: int) -> HttpResponse:
        """What is open about one player, and the form that decides it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        player = Player.objects.filter(pk=player_id).first()
        if player is None:
            raise Http404
        posted = request.POST if request.method == "POST" else None
        form, ban_form = OutcomeForm(posted), BanForm(posted, prefix="ban")
        if posted is not None:
            if not self._may_decide(request):
                raise PermissionDenied
            if self._decided(request, player, form, ban_form):
                return redirect("admin:accounts_report_work")
        context = {
            "title": f"Reports about {player.name}",
            "player": player,
            "reports": [(row, short(row.at)) for row in selectors.open_reports(player_id)],
            "before": selectors.reports_about(player_id),
            "sanctions": sanctions_of(player_id, limit=5),
            "form": form,
            "ban_form": ban_form,
            "may_decide": self._may_decide(request),
            "may_ban": request.user.has_perm("accounts.add_sanction"),
        }
        return self._page(request, "accounts/admin/case.html", context)

    def claim(self, request: HttpRequest, player_id: int) -> HttpResponse:
        """Take a case, or give it back (`release`)."""
        if not self._may_decide(request):
            raise PermissionDenied
        if "release" in request.POST:
            release_case(player_id=player_id, by=own_id(request))
        else:
            claim_case(player_id=player_id, by=own_id(request), now=now_ms())
        return redirect("admin:accounts_report_case", player_id)

    def _decided(
        self, request: HttpRequest, player: Player, form: OutcomeForm, ban_form: BanForm
    ) -> bool:
        """Carry out what was chosen. False if the forms have to be shown again, with what is wrong."""
        chosen = [text for text in request.POST.getlist("report") if len(text) <= 12]
        valid = form.is_valid()
        banning = valid and form.cleaned_data["outcome"] == Report.Outcome.BANNED
        if not banning:
            ban_form.is_bound = False
        if not valid or (banning and not ban_form.is_valid()):
            return False
        if banning and not request.user.has_perm("accounts.add_sanction"):
            raise PermissionDenied
        now = now_ms()
        data = form.cleaned_data
        try:
            closed = close_reports(
                player_id=player.pk,
                report_ids=chosen,
                outcome=data["outcome"],
                note=data["note"],
                warning=data["warning"] if data["outcome"] == Report.Outcome.WARNED else "",
                punishment=_punishment(ban_form, now) if banning else None,
                by=own_id(request),
                now=now,
            )
        except KadoError as error:
            form.add_error(None, error.detail)
            return False
        if not closed:
            form.add_error(None, "Choose a report; those that you saw may have been closed.")
            return False
        self.log_change(request, player, f"Closed {closed} reports: {data['outcome']}.")
        messages.success(request, f"{closed} reports about {player.name}: {data['outcome']}.")
        return True

    def _may_decide(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.change_report")

    def _page(self, request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
        site = self.admin_site.each_context(request)
        return render(request, template, {**site, "opts": self.opts, **context})


def _punishment(form: BanForm, now: int) -> Punishment:
    data = form.cleaned_data
    return Punishment(data["kind"], form.until(now), data["reason"])
