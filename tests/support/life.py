"""A person who has left traces everywhere, and where they are found. For tests of export and erasure."""

from dataclasses import dataclass
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django_otp.plugins.otp_totp.models import TOTPDevice
from oauth2_provider.models import AccessToken as AppToken
from oauth2_provider.models import Grant, RefreshToken

from accounts.models import Player, Season, SeasonLine, SeasonTable, StandingJob
from accounts.services.apps import register_app
from accounts.services.exclusions import exclude_player
from accounts.services.inbox import notify
from accounts.services.people import change_name, create_player
from accounts.services.reports import report_player
from accounts.services.sanctions import ban
from accounts.services.scores import remove_score, submit_score
from accounts.services.sign_in import Identity, sign_in
from accounts.services.standing_jobs import ask_job, do_jobs
from accounts.services.tokens import issue_token
from bots.models import Hint, RunHint
from common import database
from common.clock import now_ms, to_datetime
from games.puzzle.services.begin import play_daily
from games.territory.models import Departure
from games.territory.rules import TimeControl
from games.territory.services.play import play_move, resign
from games.territory.services.settle import settle
from games.territory.services.vacations import begin
from matchmaking.events import MatchFound
from matchmaking.rules import Terms
from matchmaking.services.challenges import decline_challenge, make_challenge, take_challenges
from matchmaking.services.rooms import open_room
from tests.games.puzzle import tables as runs
from tests.games.territory.tables import started

NAMES = ("Wilhelmina", "wilhelmina", "Zacharias_9")
ADDRESS = "wilhelmina.z@example.org"
TRACES = (
    *(*NAMES, ADDRESS, "uid-of-wil", "labelled-by-wil", "app-of-wil", "phone-of-wil"),
    "words-of-wil",
)


@dataclass(frozen=True)
class Life:
    """Ids of the person, of the one they met, and of what they did."""

    player: int
    other: int
    admin: int
    secret: str
    finished: str
    running: str
    alone: str
    run: str


def a_life() -> Life:
    """Somebody who has done everything that leaves a row."""
    player = sign_in(
        identity=Identity("oidc", "uid-of-wil", email=ADDRESS, names=("Zacharias_9",))
    ).player
    for name in NAMES[1::-1]:
        change_name(player_id=player.pk, name=name)
        player.name_changes.update(cause="operator")  # so that the next may be chosen at once
    other = create_player(name="Ben")
    admin = create_player(name="Root", staff=True, password="correct horse")
    me = player.pk
    _, secret = issue_token(player_id=me, scopes=["play", "profile"], label="labelled-by-wil")
    _credentials(player, other)
    finished = started([me, other.pk])
    database.wait(play_move(game_id=finished, player_id=me, ply=0, move="e10"))
    database.wait(resign(game_id=finished, player_id=other.pk))
    settle(game_id=finished, now=now_ms())
    running = started([other.pk, me], matched=True)
    alone = started([me, me], rated=False, matched=False)
    with transaction.atomic():
        told = MatchFound(game=running, pool="duo-blitz", seat=0, opponents=["Wilhelmina"])
        notify(player_id=other.pk, event=told)
        notify(
            player_id=me,
            event=MatchFound(game=running, pool="duo-blitz", seat=1, opponents=["Ben"]),
        )
    run = _puzzles(me)
    _words_of_others(player, admin)
    _standing(player, admin, finished)
    Hint.objects.create(
        game_id=alone, player_id=me, number=1, position="x", version=1, ply=0, colour="blue",
        asked_at=1,
    )  # fmt: skip
    RunHint.objects.create(run_id=run, player_id=me, turn=0, asked_at=1)
    _moderation(player, other, admin)
    _tables(player, other, finished)
    return Life(me, other.pk, admin.pk, secret, finished, running, alone, run)


def _moderation(player: Player, other: Player, admin: Player) -> None:
    ban(player_id=player.pk, kind="queue", reason="a-ban-of-wil", now=1, until=2, by=admin.pk)
    ban(player_id=other.pk, kind="queue", reason="Wilhelmina said so", now=1, until=2)
    fields: dict[str, Any] = {"kind": "other", "game_id": "", "now": 1}
    report_player(reporter_id=player.pk, player=other, words="a-report-by-wil", **fields)
    report_player(reporter_id=other.pk, player=player, words="Wilhelmina stalls.", **fields)
    report_player(reporter_id=admin.pk, player=other, words="ask Wilhelmina", **fields)


def _tables(player: Player, other: Player, game: str) -> None:
    terms = Terms("duo", TimeControl.correspondence(2), rated=False, undo="none", spectators=True)
    open_room(player_id=player.pk, terms=terms, friends_only=False, now=now_ms())
    asked = make_challenge(
        player_id=other.pk, name=NAMES[0], terms=terms, first="draw", now=now_ms()
    )
    decline_challenge(
        challenge_id=asked.row.id, player_id=player.pk, reason="other",
        words="words-of-wil", now=now_ms(),
    )  # fmt: skip
    make_challenge(player_id=player.pk, name=other.name, terms=terms, first="draw", now=now_ms())
    take_challenges(player_id=player.pk, whose="friends")
    Departure.objects.create(game_id=game, player=player, kind="timeout", at=now_ms())
    begin(player_id=player.pk, now=now_ms())


def _credentials(player: Player, other: Player) -> None:
    app, _ = register_app(
        player_id=player.pk, name="app-of-wil", redirect_uris=["https://a.example/b"]
    )
    theirs, _ = register_app(
        player_id=other.pk, name="another", redirect_uris=["https://c.example/d"]
    )
    soon = to_datetime(now_ms() + 3_600_000)
    for number, (user, used) in enumerate([(player, theirs), (other, app)]):
        access = AppToken.objects.create(
            user=user, application=used, token=f"token-{number}", expires=soon, scope="play"
        )
        RefreshToken.objects.create(
            user=user, application=used, token=f"refresh-{number}", access_token=access
        )
        Grant.objects.create(
            user=user, application=used, code=f"code-{number}", expires=soon,
            redirect_uri="https://c.example/d", scope="play",
        )  # fmt: skip
    TOTPDevice.objects.create(user=player, name="phone-of-wil", confirmed=True)


def _puzzles(player: int) -> str:
    runs.placed(runs.started(player), 3)
    run = runs.started(player)  # which makes an end of the other
    play_daily(player_id=player, day=to_datetime(now_ms()).date())
    with transaction.atomic():
        submit_score(
            board="puzzle:easy:10x10:once", player_id=player, score=9, placements=3,
            finished_at=1, source="elsewhere",
        )  # fmt: skip
    return run


def _words_of_others(player: Player, admin: Player) -> None:
    board = "puzzle:easy:10x10:once"
    remove_score(
        board=board, player_id=player.pk, by=admin.pk, reason="wilhelmina (was Zacharias_9) cheats"
    )
    LogEntry.objects.create(
        user=admin, content_type=ContentType.objects.get_for_model(Player), object_id=str(player.pk),
        object_repr="Wilhelmina", action_flag=CHANGE, change_message="Changed Wilhelmina.",
    )  # fmt: skip


def _standing(player: Player, admin: Player, game: str) -> None:
    """A title of a season under a name of then, and what an admin wrote about ratings."""
    season = Season.objects.create(name="Spring", starts_at=0, ends_at=1, keys=["duo:blitz"])
    table = SeasonTable.objects.create(season=season, key="duo:blitz", lines=1, frozen_at=2)
    SeasonLine.objects.create(
        table=table, line=1, rank=1, player=player, name="Zacharias_9", mu=1700, sigma=90, games=20,
        title="Champion",
    )  # fmt: skip
    exclude_player(player_id=player.pk, key="", by=admin.pk, reason="Wilhelmina is looked into")
    ask_job(kind="annul", subject=game, by=admin.pk, reason='Wilhelmina "helped" Ben')
    assert do_jobs() == 1
    assert StandingJob.objects.get().state == "done", "the game was rated"


def found_in_database(*texts: str) -> list[str]:
    """Every column that has one of the texts in one of its rows, in any case: of whatever type, as its text."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " JOIN information_schema.tables USING (table_schema, table_name)"
            " WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
            " ORDER BY table_name, column_name"
        )
        columns: list[tuple[str, str]] = cursor.fetchall()
        patterns: list[Any] = [f"%{text.replace('_', chr(92) + '_')}%" for text in texts]
        found = []
        for table, column in columns:
            cursor.execute(
                f'SELECT 1 FROM "{table}" WHERE "{column}"::text ILIKE ANY(%s) LIMIT 1',
                [patterns],
            )
            if cursor.fetchone():
                found.append(f"{table}.{column}")
        return found
