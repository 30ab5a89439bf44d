"""Who has another name is called by it at once, at every table where they sit."""

from collections.abc import Callable

import pytest
from channels.db import database_sync_to_async

from accounts import closing, guests, names
from accounts.models import User
from games import opening, valkey
from games import tables as tables_module
from games.models import Game, Seat
from tests.table.conftest import Listening, NewMatch, NewTables, eventually
from tests.table.inside import InnerPage

pytestmark = [pytest.mark.both_databases]

NEVER = 10**9


def claims_a_name(guest: User) -> None:
    guests.claim(guest, "Irma Vep", "gratin dauphinois")


def is_renamed_by_staff(guest: User) -> None:
    claims_a_name(guest)
    names.change(guest, "Musidora", by="Juve")


def changes_the_name(guest: User) -> None:
    claims_a_name(guest)
    names.change(guest, "Musidora")


def is_deleted(guest: User) -> None:
    closing.delete(guest)


def first_player(game: Game) -> User:
    return User.objects.get(seats__game=game, seats__number=0)


@pytest.mark.parametrize("happens", [claims_a_name, is_renamed_by_staff, changes_the_name, is_deleted])
async def test_the_pages_of_every_process_hear_another_name_by_a_ring(
    new_match: NewMatch,
    new_tables: NewTables,
    listening_begun: Listening,
    monkeypatch: pytest.MonkeyPatch,
    happens: Callable[[User], None],
) -> None:
    monkeypatch.setattr(tables_module, "NAMED_EVERY", NEVER)
    match, one, other = await new_match(), await new_tables(), await new_tables()
    pages = [*await match.begun_inside(one, other), await InnerPage(None).join(other, match.game)]
    await listening_begun(2)
    person = await database_sync_to_async(first_player)(match.game)
    before = person.name
    assert [page.welcome["seats"][0]["name"] for page in pages] == [before] * 3
    await database_sync_to_async(happens)(person)
    now = (await User.objects.aget(pk=person.pk)).name
    assert now != before
    for page in pages:
        await page.until(lambda page: page.welcome["seats"][0]["name"] == now)


async def test_where_the_ring_is_lost_a_look_finds_the_name_though_nobody_looks_at_the_table(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables_module, "NAMED_EVERY", 1)
    monkeypatch.setattr(valkey, "publish", lambda _channel, _message: None)
    match, tables = await new_match(), await new_tables()
    table = await tables.table(match.game.code)
    assert table is not None
    await database_sync_to_async(lambda: claims_a_name(first_player(match.game)))()

    async def called() -> bool:
        return table.opened.sitters[0].name == "Irma Vep"

    await eventually(called)


async def test_what_is_shown_of_many_games_is_what_is_shown_of_each(new_match: NewMatch) -> None:
    matches = [await new_match(1, bots=["burglar", "master"]), await new_match(3)]

    def read() -> tuple[dict[int, opening.Shown], dict[int, opening.Shown]]:
        Seat.objects.filter(game=matches[1].game, number=1).update(user=None, program=True)
        ids = [match.game.pk for match in matches]
        one_by_one = [opened for opened in map(opening.find_by_id, ids) if opened]
        return opening.shown(ids), {opened.game_id: opened.shown() for opened in one_by_one}

    together, one_by_one = await database_sync_to_async(read)()
    assert len(together) == 2
    assert together == one_by_one
