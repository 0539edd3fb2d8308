"""Export and erasure of a person who has left traces everywhere."""

import json
from io import StringIO
from typing import Any

import jsonschema
import pytest
from django.apps import apps
from django.core.management import CommandError, call_command

from accounts import personal
from accounts.errors import BuiltInPlayerError, NameTakenError
from accounts.models import Erasure, Player
from accounts.selectors import rating_history
from accounts.services.erasure import begin_erasure, erase_player, finish_erasure, finish_erasures
from accounts.services.people import cpu_player, create_player
from accounts.services.person_export import export_schema, person_export
from config.env import PROJECT
from games.territory import selectors as games
from tests.support.life import ADDRESS, NAMES, TRACES, Life, a_life, found_in_database

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def life() -> Life:
    return a_life()


def _exported(player_id: int) -> dict[str, Any]:
    document: dict[str, Any] = json.loads("".join(person_export(player_id)))
    return document


def test_the_schema_in_the_docs_is_the_one_of_the_code() -> None:
    written = json.loads((PROJECT / "docs/export.schema.json").read_text())
    assert written == export_schema()
    jsonschema.Draft202012Validator.check_schema(written)
    assert all(section.shape is not Any for section in personal.sections())


def test_an_export_has_everything_and_is_as_the_schema_says(life: Life) -> None:
    document = _exported(life.player)

    jsonschema.Draft202012Validator(export_schema()).validate(document)
    sections = document["sections"]
    empty = {name for name, value in sections.items() if not value}
    assert empty == {"ticket", "analyses_awaited"}
    for trace in TRACES:
        assert trace in json.dumps(document), trace
    assert {game["game"] for game in sections["games"]} == {
        *(life.finished, life.running, life.alone)
    }
    (finished,) = (game for game in sections["games"] if game["game"] == life.finished)
    assert finished["record"]["moves"][0]["move"] == "e10"
    assert finished["seats"] == [0]
    (alone,) = (game for game in sections["games"] if game["game"] == life.alone)
    assert alone["seats"] == [0, 1]
    placed = [len(run["record"]["commands"]) for run in sections["puzzle_runs"]]
    assert sorted(placed) == [0, 0, 3]
    assert [change["old"] for change in sections["names"]] == ["Zacharias_9", "wilhelmina"]


def test_an_export_tells_no_secret_and_nothing_of_others(life: Life) -> None:
    text = "".join(person_export(life.player))

    for secret in (life.secret, "token-0", "refresh-0", "code-0"):
        assert secret not in text
    (hashed,) = Player.objects.filter(pk=life.admin).values_list("password", flat=True)
    assert hashed not in "".join(person_export(life.admin))
    assert ADDRESS not in "".join(person_export(life.other))


def test_the_command_exports_and_says_when_nobody_is_called_so(life: Life, tmp_path: Any) -> None:
    printed, file = StringIO(), tmp_path / "export.json"
    call_command("export_player", "WILHELMINA", stdout=printed)
    call_command("export_player", "Wilhelmina", "--output", str(file))
    for text in (printed.getvalue(), file.read_text()):
        assert json.loads(text)["sections"]["account"]["name"] == "Wilhelmina"
    with pytest.raises(CommandError, match="Nobody"):
        call_command("export_player", "Nobody")


def test_after_an_erasure_no_trace_is_left_and_the_games_of_others_are(life: Life) -> None:
    assert len(found_in_database(*TRACES)) > 10, "the search finds what there is"
    before = {game: games.notes_after(game, 0) for game in (life.finished, life.running)}
    ratings = rating_history(life.other, "duo:blitz", limit=9)

    name = erase_player(player_id=life.player)

    assert found_in_database(*TRACES) == []
    assert name.startswith("Erased-")
    for game, notes in before.items():
        after = games.notes_after(game, 0)
        assert [note.version for note in after[: len(notes)]] == [note.version for note in notes]
        renamed = [note.payload.replace("Wilhelmina", name) for note in notes]
        assert [note.payload for note in after[: len(notes)]] == renamed
        assert name in {seat.player for seat in games.load_snapshot(game).seats}
    assert games.load_state(life.running).is_over
    assert games.load_state(life.alone).is_over
    assert rating_history(life.other, "duo:blitz", limit=9)[-len(ratings) :] == ratings
    assert name in json.dumps(_exported(life.other)["sections"]["inbox"])


def test_what_is_registered_as_erased_has_no_row_left(life: Life) -> None:
    erase_player(player_id=life.player)

    for table in (table for section in personal.sections() for table in section.tables):
        model = apps.get_model(table)
        for key in (f.name for f in model._meta.fields if f.related_model is Player):
            assert not model._default_manager.filter(**{key: life.player}).exists(), table


def test_nobody_takes_the_name_for_a_year(life: Life) -> None:
    erase_player(player_id=life.player)
    for name in (*NAMES, "ZACHARIAS_9"):
        with pytest.raises(NameTakenError):
            create_player(name=name)
    assert create_player(name="Wilhelm").name == "Wilhelm"


def test_an_erasure_that_was_cut_off_is_gone_on_with(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(player_id: int) -> None:
        raise ConnectionError(player_id)

    failing = [
        personal.Section(name=each.name, export=each.export, erase=fail)
        if each.name == "hints"
        else each
        for each in personal.sections()
    ]
    name = begin_erasure(player_id=life.player)
    assert begin_erasure(player_id=life.player) == name
    monkeypatch.setattr(personal, "sections", lambda: iter(failing))
    assert finish_erasures() == 0
    assert found_in_database(ADDRESS), "all or nothing"
    monkeypatch.undo()

    assert finish_erasures() == 1
    assert found_in_database(*TRACES) == []
    finish_erasure(player_id=life.player)
    row = Erasure.objects.get()
    assert (row.cause, row.names, row.reason) == ("wish", [], "")


def test_an_operator_erases_with_a_reason(life: Life) -> None:
    printed = StringIO()
    call_command(
        "erase_player", "wilhelmina", "--reason", "by letter", "--by", "Root", stdout=printed
    )
    assert "Erased-" in printed.getvalue()
    row = Erasure.objects.get()
    assert (row.cause, row.reason, row.by_name) == ("operator", "by letter", "Root")
    with pytest.raises(CommandError, match="Nobody"):
        call_command("erase_player", "Wilhelmina", "--reason", "again")
    with pytest.raises(CommandError, match="empty"):
        call_command("erase_player", "Ben", "--reason", " ")


def test_the_players_of_the_server_stay() -> None:
    with pytest.raises(BuiltInPlayerError):
        erase_player(player_id=cpu_player("starter").pk)
