"""Hints in the admin: who had which, and what is still looked for. Nothing is edited."""

from django.contrib import admin

from bots.models import Hint, RunHint
from common.admin import ReadOnly


@admin.register(Hint)
class HintAdmin(ReadOnly, admin.ModelAdmin[Hint]):
    list_display = ("game", "player", "number", "ply", "colour", "move", "given_at")
    list_select_related = ("game", "player")
    search_fields = ("=game__id", "=player__name")
    search_help_text = "A game's id, or a player's name."
    ordering = ("-id",)
    show_full_result_count = False
    list_per_page = 50


@admin.register(RunHint)
class RunHintAdmin(ReadOnly, admin.ModelAdmin[RunHint]):
    list_display = ("run", "player", "turn", "slot", "rotation", "at", "given_at")
    list_select_related = ("run", "player")
    search_fields = ("=run__id", "=player__name")
    search_help_text = "A run's id, or a player's name."
    ordering = ("-asked_at",)
    show_full_result_count = False
    list_per_page = 50
