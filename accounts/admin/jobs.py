"""The jobs about standing that admins have asked for, and how far they are."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts import rules
from accounts.admin.base import ASKED, ask
from accounts.models import StandingJob
from common.admin import FastList
from common.clock import now_ms, rfc3339

if TYPE_CHECKING:  # generic for the type checker only
    JobModelForm = forms.ModelForm[StandingJob]
else:
    JobModelForm = forms.ModelForm

RIGHTS = {
    StandingJob.Kind.CHECK: "accounts.recompute_ratings",
    StandingJob.Kind.RECOMPUTE: "accounts.recompute_ratings",
    StandingJob.Kind.ANNUL: "accounts.annul_game",
    StandingJob.Kind.RESTORE: "accounts.annul_game",
}
"""Jobs that are asked for in a form, and the right that each needs."""


class JobForm(JobModelForm):
    class Meta:
        model = StandingJob
        fields = ("kind", "subject", "reason")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        rating = cleaned.get("kind") in (StandingJob.Kind.CHECK, StandingJob.Kind.RECOMPUTE)
        if rating and not rules.is_rating_key(cleaned.get("subject", "")):
            raise ValidationError({"subject": "A key such as duo:blitz."})
        return cleaned


@admin.register(StandingJob)
class StandingJobAdmin(FastList):
    """What was asked for, and how far it is. Asked for here, or by the actions of ledger and seasons."""

    form = JobForm
    list_display = ("asked", "kind", "subject", "state", "by_name", "reason", "took", "outcome")
    list_filter = ("state", "kind")
    search_fields = ("subject",)
    search_help_text = "A key, or the id of a game or season: among the newest."
    ordering = ("-id",)

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return self.among_newest(request, rows.filter(subject=term))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return any(map(request.user.has_perm, RIGHTS.values()))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may: bool = super().has_view_permission(request, obj)
        return (
            may
            or self.has_add_permission(request)
            or request.user.has_perm("accounts.manage_season")
        )

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.list_display if obj else JobForm.Meta.fields

    def formfield_for_choice_field(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "kind":
            may = [kind for kind, right in RIGHTS.items() if request.user.has_perm(right)]
            kwargs["choices"] = [(kind.value, kind.label) for kind in may]
        return super().formfield_for_choice_field(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: StandingJob, form: Any, change: bool) -> None:
        """Ask for it as the actions do."""
        if request.user.pk is not None and request.user.has_perm(
            RIGHTS[StandingJob.Kind(obj.kind)]
        ):
            ask(obj.kind, obj.subject, request.user.pk, obj.reason)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> None:  # type: ignore[override]
        """The job's row says it already."""

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> Any:
        self.message_user(request, ASKED.format(1))
        return self.response_post_save_add(request, obj)

    @admin.display(description="asked at", ordering="id")
    def asked(self, job: StandingJob) -> str:
        return rfc3339(job.asked_at)

    @admin.display(description="took")
    def took(self, job: StandingJob) -> str:
        if job.started_at is None:
            return ""
        return f"{((job.ended_at or now_ms()) - job.started_at) / 1000:.1f} s"
