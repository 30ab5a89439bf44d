"""The public list: every game has one line, in order, for good, and the files of it can be checked by anyone."""

import hashlib
import json
from datetime import date
from io import StringIO
from pathlib import Path
from threading import Thread

import pytest
from asgiref.sync import async_to_sync
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client

from accounts.models import User
from games import archive, fairness, intervention, opening, shares, sweep
from games.models import FairnessLine, Game, Record
from games.opening import NewSeat, open_game
from games.rules import fairness as promise
from games.rules.record import Record as Document
from games.rules.record import as_json, make_record, write_record
from tests.games.finished import kept, played
from tests.rules.random_play import random_game

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


def new_game(pace: str = "live") -> Game:
    people = [User.objects.create_guest() for _ in range(2)]
    return open_game([NewSeat("violet", people[0].pk), NewSeat("amber", people[1].pk)], pace=pace)  # type: ignore[arg-type]


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    if not response.streaming:
        return response.content.decode()

    async def pieces() -> str:
        return "".join([piece.decode() async for piece in response.streaming_content])

    return async_to_sync(pieces)()


def test_games_that_begin_at_once_have_one_line_each_in_one_chain() -> None:
    games = [new_game() for _ in range(6)]

    def fix(game: Game) -> None:
        shares.fix(game.pk)
        connection.close()

    # Each game twice: two processes notice that its shares are there.
    threads = [Thread(target=fix, args=[game]) for game in [*games, *games]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = "".join(fairness.day_as_text(FairnessLine.objects.get(number=1).day))
    assert [line.number for line in promise.read_list(text)] == [1, 2, 3, 4, 5, 6]
    assert {game.line_id for game in Game.objects.all()} == {1, 2, 3, 4, 5, 6}


def test_a_line_is_the_hash_of_what_was_agreed_on() -> None:
    game = new_game()
    shares.commit(game.pk, 0, "ab" * 32)
    shares.fix(game.pk)
    opened = opening.find_by_id(game.pk)
    assert opened is not None
    assert opened.shares() == ("ab" * 32, None)
    assert FairnessLine.objects.get().digest == promise.digest(game.code, opened.terms(), opened.shares())
    assert FairnessLine.objects.get().digest != promise.digest(game.code, opened.terms(), ("cd" * 32, None))


def test_the_database_refuses_to_change_or_delete_a_line() -> None:
    shares.fix(new_game().pk)
    for act in (lambda: FairnessLine.objects.update(digest="0" * 64), lambda: FairnessLine.objects.all().delete()):
        with pytest.raises(DatabaseError, match="never changed or deleted"), transaction.atomic():
            act()


def test_a_game_that_is_deleted_leaves_its_line() -> None:
    game = new_game()
    shares.fix(game.pk)
    Game.objects.filter(pk=game.pk).delete()
    shares.fix(new_game().pk)
    assert list(FairnessLine.objects.order_by("number").values_list("number", flat=True)) == [1, 2]


def test_a_game_that_a_worker_begins_is_fixed_and_opened_by_it() -> None:
    game = new_game("relaxed")
    shares.commit(game.pk, 0, "ab" * 32)
    for _ in range(2):
        assert not sweep.wake(game.pk)
        Game.objects.filter(pk=game.pk).update(wake_at=1)
        assert sweep.wake(game.pk)
    game.refresh_from_db()
    assert (game.head, game.line_id) == (1, 1)
    opened = opening.find_by_id(game.pk)
    assert opened is not None
    assert opened.counting() == [False, False]


def test_a_game_made_void_before_it_begins_stands_in_the_list() -> None:
    game = new_game()
    assert intervention.void(game.pk)
    game.refresh_from_db()
    assert game.line_id == 1


def test_a_game_from_before_the_list_has_a_record_without_it() -> None:
    game = played(kept("fr-2"))
    assert archive.archive(game.pk)
    document = archive.record_of(Game.objects.get(pk=game.pk))
    assert document is not None
    assert "line" not in document
    assert "share" not in document["seats"][0]


def test_a_record_keeps_its_place_through_the_archive(client: Client, tmp_path: Path) -> None:
    game = new_game()
    shares.give(game.pk, 0, b"a" * 16)
    shares.commit(game.pk, 1, "ab" * 32)
    intervention.void(game.pk)
    before = client.get(f"/games/{game.code}/record.json").json()
    assert archive.archive(game.pk)
    assert Record.objects.get().packed is not None
    after = client.get(f"/games/{game.code}/record.json").json()
    assert after == before
    assert [seat["share"] for seat in after["seats"]] == [promise.share_of(b"a" * 16), "ab" * 32]
    assert [seat["nonce"] for seat in after["seats"]] == [(b"a" * 16).hex(), "0" * 32]
    # A file of the list that was kept at the time holds it to this.
    (tmp_path / "list").write_text(text_of(client, "/fairness/1.txt"))
    (tmp_path / "record").write_text(client.get(f"/games/{game.code}/record.json").content.decode())
    call_command("verify", str(tmp_path / "record"), list=[str(tmp_path / "list")], stderr=StringIO())
    assert after["line"]["head"] == FairnessLine.objects.get().head


def agreed(name: str, seed: int) -> Document:
    """A finished game that committed to what it opened, as line 1 of a list."""
    game = random_game(kept(name).head.terms, seed)
    terms, happened = game.terms, game.log
    own = [promise.share_of(seat.nonce) if seat.kind == "human" else None for seat in terms.seats]
    digest = promise.digest("mine", terms, own)
    place = promise.Place(1, "2026-11-19", promise.head_after(promise.FIRST_HEAD, digest))
    names = [f"p{seat}" for seat in range(len(terms.seats))]
    return make_record("mine", "2026-11-19T20:00:00Z", terms, names, happened, own, place)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, ""),
        ({"id": "another"}, "line 1 of the list was written for something else"),
        ({"line": {"number": 1, "day": "2026-11-19", "head": "ab" * 32}}, "the head after line 1"),
        ({"line": {"number": 2, "day": "2026-11-19", "head": "ab" * 32}}, "the list that was kept has no line 2"),
    ],
)
def test_verify_holds_a_record_against_a_list_that_was_kept(
    changed: dict[str, object], said: str, tmp_path: Path
) -> None:
    record = agreed("fr-2", 3)
    assert record.head.shares is not None
    assert record.head.place is not None
    digest = promise.digest("mine", record.head.terms, record.head.shares)
    line = promise.Line(1, digest, record.head.place.head)
    (tmp_path / "list").write_text(f"{promise.heading('2026-11-19', 0, promise.FIRST_HEAD)}\n{line}\n")
    (tmp_path / "record").write_text(write_record(record))
    if changed:
        (tmp_path / "record").write_text(json.dumps(as_json(record) | changed))
    out = StringIO()
    try:
        call_command("verify", str(tmp_path / "record"), list=[str(tmp_path / "list")], stdout=out, stderr=StringIO())
    except CommandError:
        assert said
    assert said in out.getvalue()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the first line"),
        ("midnight-list/1 x 0 " + "0" * 64 + "\n2 " + "ab" * 32 + " " + "cd" * 32, "calls itself 2"),
        ("midnight-list/1 x 0 " + "0" * 64 + "\n1 " + "ab" * 32 + " " + "cd" * 32, "not the hash"),
        ("midnight-list/1 x 0 " + "0" * 64 + "\nnonsense", "cannot be read"),
    ],
)
def test_a_list_that_was_touched_is_none(text: str, said: str) -> None:
    with pytest.raises(promise.ListError, match=said):
        list(promise.read_list(text))


def test_the_files_of_the_list_follow_one_another(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fairness, "AT_ONCE", 2)
    days = [date(2026, 1, 30), date(2026, 2, 1)]
    head = promise.FIRST_HEAD
    for number in range(1, 8):
        digest = hashlib.sha256(bytes([number])).hexdigest()
        head = promise.head_after(head, digest)
        day = days[number > 3]
        FairnessLine.objects.create(number=number, at=f"{day}T12:00:00Z", day=day, digest=digest, head=head)
    first, between, last = [text_of(client, f"/fairness/{day}.txt") for day in (days[0], "2026-01-31", days[1])]
    assert [line.number for line in promise.read_list(first)] == [1, 2, 3]
    assert list(promise.read_list(between)) == []
    assert [line.number for line in promise.read_list(last)] == [4, 5, 6, 7]
    assert between.split()[2:] == last.splitlines()[0].split()[2:] == [first.split()[-3], first.split()[-1]]
    some = list(promise.read_list(text_of(client, "/fairness/6.txt")))
    assert [line.number for line in some] == [6, 7]
    assert some[-1].head == head
    assert client.get("/fairness/8.txt").status_code == client.get("/fairness/2026-02-30.txt").status_code == 404
    assert client.get("/fairness/9999-01-01.txt").status_code == 404
    page = client.get("/fairness/?before=2026-02-02").content.decode()
    assert "2026-02-01.txt" in page
    assert "2026-01-30.txt" in page
    assert head in page


def test_a_clock_that_is_set_back_opens_no_file_again(monkeypatch: pytest.MonkeyPatch) -> None:
    shares.fix(new_game().pk)
    monkeypatch.setattr("games.clock.database_now", lambda: 0)
    shares.fix(new_game().pk)
    one, other = FairnessLine.objects.order_by("number")
    assert one.day == other.day
