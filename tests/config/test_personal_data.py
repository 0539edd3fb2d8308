"""Every table about a person is named by somebody who exports and erases it, or is exempt with a reason."""

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db.models import Model

from accounts import personal
from accounts.models import Player


def _tables_with_a_key_to_a_player() -> Iterator[type[Model]]:
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.get_fields(include_hidden=True):
            if field.concrete and field.is_relation and field.related_model is Player:
                yield model
                break


def test_every_table_about_a_person_is_exported_and_erased_or_says_why_not() -> None:
    named = {table for section in personal.sections() for table in section.tables}
    kept = {table: why for section in personal.sections() for table, why in section.kept.items()}
    exempt = personal.exemptions()
    found = {model._meta.label for model in _tables_with_a_key_to_a_player()}

    assert found == named | kept.keys() | exempt.keys()
    assert not named & kept.keys()
    assert not (named | kept.keys()) & exempt.keys()
    assert all(len(why) > 20 for why in [*kept.values(), *exempt.values()])


def test_a_section_is_named_once() -> None:
    with pytest.raises(ValueError, match="inbox"):
        personal.register("inbox", export=lambda _: None, erase=lambda _: None)
