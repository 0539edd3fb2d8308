"""What Node tells of the client without a browser: its rules, and that every language says all."""

import itertools
import json
import os
import re
import shutil
import subprocess

import pytest

from config.env import PROJECT
from games.territory import events as ev
from tests.games.territory.support import view
from tests.games.territory.test_state import CONTROLS, KEYS, story

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node 20: apt-get install nodejs")
CLIENT = PROJECT / "web/static/web"


def node(*arguments: str, text: str = "") -> "subprocess.CompletedProcess[str]":
    assert NODE is not None
    return subprocess.run(
        [NODE, *arguments],
        input=text,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )


def words(language: str) -> dict[str, str | dict[str, str]]:
    address = (CLIENT / f"words/{language}.js").as_uri()
    done = node(
        "--input-type=module",
        "-e",
        f"console.log(JSON.stringify((await import('{address}')).default))",
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str | dict[str, str]] = json.loads(done.stdout)
    return found


def test_its_rules_are_those_of_the_reference_games() -> None:
    done = node("--test", "--test-reporter=spec", "tests/web/rules.test.mjs")
    assert done.returncode == 0, done.stdout
    assert re.search(r"pass [1-9]\d", done.stdout)


FOLDS = """
import { readFileSync } from "node:fs";
import { foldGame } from "%s";
const games = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(games.map(({ first, events }) =>
    events.reduce((game, event, at) => foldGame(game, first.version + at + 1, event), first))));
"""


def test_old_snapshot_and_events_are_the_fresh_snapshot() -> None:
    """The games at random of tests/games/territory, in which every kind of event that does not need an undo occurs."""
    games, fresh, kinds = [], [], set()
    for number, (key, control) in enumerate(itertools.product(KEYS, CONTROLS * 3)):
        steps = [(before, decision) for before, decision, _ in story(key, control, number)]
        happened = [event for _, decision in steps for event in decision.events]
        events = [json.loads(ev.encode(event)) for event in happened]
        games.append({"first": view(steps[0][0]), "events": events})
        fresh.append(view(steps[-1][1].state))
        kinds |= {event["type"] for event in events}
    done = node(
        "--input-type=module",
        "-e",
        FOLDS % (CLIENT / "client/fold.js").as_uri(),
        text=json.dumps(games),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == fresh
    without = {"game_started", "undo_asked", "undo_answered", "moves_undone"}
    assert kinds == {kind.__struct_config__.tag for kind in ev.AnyEvent.__args__} - without


@pytest.mark.parametrize("language", ["ja", "ru"])
def test_every_language_says_all(language: str) -> None:
    english, other = words("en"), words(language)
    assert other.keys() == english.keys()
    for key, said in other.items():
        forms = list(said.values()) if isinstance(said, dict) else [said]
        assert all(forms), key
        meant = english[key]
        blanks = set(_blanks(meant["other"] if isinstance(meant, dict) else meant))
        assert all(set(_blanks(form)) == blanks for form in forms), key


@pytest.mark.parametrize("language", ["en", "ja", "ru"])
def test_a_count_has_all_forms_that_its_language_knows(language: str) -> None:
    done = node(
        "-p",
        f"JSON.stringify(new Intl.PluralRules('{language}').resolvedOptions().pluralCategories)",
    )
    categories = set(json.loads(done.stdout))
    assert [
        key
        for key, said in words(language).items()
        if isinstance(said, dict) and set(said) != categories
    ] == []


def test_every_key_that_is_said_is_there() -> None:
    """The type checker sees the keys that stand in the text; this sees those that nobody says any more."""
    text = "".join(path.read_text() for path in CLIENT.rglob("*.js") if path.parent.name != "words")
    built = tuple(f"{part}." for part in re.findall(r"`([\w.]+)\.\$\{", text))
    unsaid = [key for key in words("en") if f'"{key}"' not in text and not key.startswith(built)]
    assert unsaid == []


def _blanks(text: str) -> list[str]:
    return [part.partition("}")[0] for part in text.split("{")[1:]]
