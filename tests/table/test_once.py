"""A command counts once, however often it is sent and whatever became of the answer."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from channels.db import database_sync_to_async
from django.db import OperationalError, connection, transaction

from games import archive, log
from games.models import Event
from games.pulse import pulse
from games.tables import Tables, here, stop_here
from tests.browser.site import Site
from tests.settings import ON_POSTGRES
from tests.table.conftest import Match, NewMatch, NewTables, eventually, garage
from tests.table.inside import InnerPage
from tests.table.test_allowance import poster

pytestmark = [pytest.mark.both_databases]


class LostAnswer(log.Pen):
    """Writes everything, but once nobody hears whether it did."""

    def append(self, append: log.Append) -> "asyncio.Future[None]":
        written = super().append(append)
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        written.add_done_callback(lambda _: answer.set_exception(log.Uncertain("the line broke")))
        return answer


class Slow(log.Pen):
    """Gives up on a COMMIT that the database has begun, and that ends well a little later."""

    def append(self, append: log.Append) -> "asyncio.Future[None]":
        is_locked, loop = threading.Event(), asyncio.get_running_loop()

        def commit_slowly() -> None:
            with transaction.atomic():
                assert not log.write([append])
                is_locked.set()
                time.sleep(0.3)
            connection.close()

        threading.Thread(target=commit_slowly).start()
        is_locked.wait(30)
        answer: asyncio.Future[None] = loop.create_future()
        answer.set_exception(log.Uncertain("no answer in time"))
        return answer


class Unknown(log.Pen):
    """Never says whether it wrote; it wrote nothing."""

    def append(self, append: log.Append) -> "asyncio.Future[None]":
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        answer.set_exception(log.Uncertain("no answer in time"))
        return answer


class Broken(log.Pen):
    """Writes nothing and says so."""

    def append(self, append: log.Append) -> "asyncio.Future[None]":
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        answer.set_exception(log.Unwritten("no room left"))
        return answer


@contextmanager
def writing_with(tables: Tables, pen: log.Pen) -> Iterator[None]:
    own, tables.pen = tables.pen, pen
    yield
    tables.pen = own
    pen.close()


async def written(match: Match, command_id: str) -> list[int]:
    def find() -> list[int]:
        return list(Event.objects.filter(game=match.game, command_id=command_id).values_list("seq", flat=True))

    return await database_sync_to_async(find)()


async def test_a_command_sent_again_is_answered_and_not_done_again(new_match: NewMatch, new_tables: NewTables) -> None:
    match, tables = await new_match(), await new_tables()
    page, _ = await match.inside(tables)
    done = await page.do("lift", "once", tile=garage(page)[0])
    again = await page.do("lift", "once", tile=garage(page)[0])
    assert again == {"type": "ack", "id": "once", "seq": done["head"]}
    assert await written(match, "once") == [done["head"]]


async def test_another_process_knows_it_and_so_does_one_that_comes_after_a_crash(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, tables, other = await new_match(), await new_tables(), await new_tables()
    page, _ = await match.inside(tables)
    done = await page.do("lift", "once", tile=garage(page)[0])
    elsewhere = await InnerPage(0, "other").join(other, match.game)
    assert await elsewhere.do("lift", "once", tile=0) == {"type": "ack", "id": "once", "seq": done["head"]}
    after = await InnerPage(0, "after").join(await new_tables(), match.game)
    assert await after.do("lift", "once", tile=0) == {"type": "ack", "id": "once", "seq": done["head"]}


async def test_the_record_of_a_game_has_no_ids_so_whoever_loads_it_says_that_the_game_is_over(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, tables = await new_match(), await new_tables()
    alice, bob = await match.inside(tables)
    tile = garage(alice)[0]
    done = await alice.do("lift", "once", tile=tile)
    await bob.do("leave")
    await alice.until(lambda page: page.sight["phase"] == "over")
    assert await database_sync_to_async(archive.archive)(match.game.pk)
    at_hand = await alice.do("lift", "once", tile=tile)
    assert at_hand == {"type": "ack", "id": "once", "seq": done["head"]}
    after = await InnerPage(0, "after").join(await new_tables(), match.game)
    assert (await after.do("lift", "once", tile=tile))["code"] == "game_over"


async def test_ids_are_each_players_own(new_match: NewMatch, new_tables: NewTables) -> None:
    match, tables = await new_match(), await new_tables()
    alice, bob = await match.inside(tables)
    assert (await alice.do("lift", "same", tile=garage(alice)[0]))["type"] == "events"
    assert (await bob.do("lift", "same", tile=garage(bob)[0]))["type"] == "events"


@pytest.mark.parametrize("command_id", ["form-\0", "a" * 41, "a b", "form-1\n"])
async def test_a_form_with_an_id_that_is_none_is_refused_with_a_sentence_and_changes_nothing(
    command_id: str, new_match: NewMatch
) -> None:
    match = await new_match()
    alice, _ = await match.begun_inside(await here())
    faults, head = pulse.faults, alice.head
    words = {"command": '{"do": "ready", "on": true}', "id": command_id}
    response = await poster(match, 0).post(f"/games/{match.game.code}/exchange/", words)
    assert response.status_code == 422
    assert "must be 1 to 40 letters, digits, - and _" in response.content.decode()
    assert (pulse.faults, alice.head) == (faults, head)
    await stop_here()


async def test_a_refused_command_may_count_when_it_is_sent_again(new_match: NewMatch, new_tables: NewTables) -> None:
    match, tables = await new_match(), await new_tables()
    alice, bob = await match.inside(tables)
    tile = garage(alice)[0]
    await alice.do("lift", tile=tile)
    assert (await bob.do("lift", "once", tile=tile))["code"] == "tile_gone"
    await alice.do("return", tile=tile, face="down")
    assert (await bob.do("lift", "once", tile=tile))["type"] == "events"
    assert len(await written(match, "once")) == 1


async def test_a_command_whose_outcome_nobody_knows_is_looked_up(new_match: NewMatch, new_tables: NewTables) -> None:
    match, tables = await new_match(), await new_tables()
    alice, bob = await match.inside(tables)
    with writing_with(tables, LostAnswer()):
        answer = await alice.do("lift", "once", tile=garage(alice)[0])
    assert answer == {"type": "ack", "id": "once", "seq": alice.head}
    assert await written(match, "once") == [alice.head]
    assert bob.head == alice.head
    assert (await alice.do("lift", "once", tile=0)) == answer
    assert await match.faults() == []


async def test_a_command_that_was_not_written_is_refused_and_may_be_sent_again(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, tables = await new_match(), await new_tables()
    alice, bob = await match.inside(tables)
    before = alice.head
    with writing_with(tables, Broken()):
        assert (await alice.do("lift", "once", tile=garage(alice)[0]))["code"] == "unavailable"
    assert (alice.head, bob.head) == (before, before)
    assert await written(match, "once") == []

    async def is_stored() -> bool:
        answer = await alice.do("lift", "once", tile=garage(alice)[0])
        # The table may still pause.
        assert answer.get("code") in (None, "unavailable")
        return bool(answer["type"] == "events")

    await eventually(is_stored)
    assert len(await written(match, "once")) == 1


if ON_POSTGRES:
    # SQLite's COMMIT has always ended when its answer is missed.

    async def test_a_commit_that_ends_late_is_waited_for_before_anything_is_said(
        new_match: NewMatch, new_tables: NewTables
    ) -> None:
        match, tables = await new_match(), await new_tables()
        alice, bob = await match.inside(tables)
        before = alice.head
        with writing_with(tables, Slow()):
            answer = await alice.do("lift", "once", tile=garage(alice)[0])
        assert answer == {"type": "ack", "id": "once", "seq": before + 1}
        assert "unavailable" not in alice.refused
        assert (alice.head, bob.head) == (before + 1, before + 1)
        assert (await alice.do("lift", "once", tile=0))["seq"] == before + 1
        assert await written(match, "once") == [before + 1]


async def test_what_was_surely_not_stored_is_refused_after_an_unknown_commit(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, tables = await new_match(), await new_tables()
    alice, _ = await match.inside(tables)
    with writing_with(tables, Unknown()):
        assert (await alice.do("lift", "once", tile=garage(alice)[0]))["code"] == "unavailable"
    assert await written(match, "once") == []
    assert "uncertain" not in alice.of_moves


async def test_while_the_log_cannot_be_read_an_unknown_command_has_no_answer(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, tables = await new_match(), await new_tables()
    alice, bob = await match.inside(tables)
    tile, before = garage(alice)[0], alice.head

    def fail(game_id: int) -> None:
        raise OperationalError("no answer")

    with monkeypatch.context() as patch, writing_with(tables, LostAnswer()):
        patch.setattr(log, "settle", fail)
        asked = alice.ask_for("lift", "once", tile=tile)
        await alice.until(lambda page: "uncertain" in page.of_moves)
        # Sent again from a page that comes back: still unknown. Another one's command is surely not stored.
        again = alice.ask_for("lift", "once", tile=tile)
        assert (await bob.do("lift", "other", tile=garage(bob)[1]))["code"] == "unavailable"
        await alice.settle()
        assert not asked.done()
        assert not again.done()
        await alice.until(lambda page: "moves_wait" in page.of_moves)
    async with asyncio.timeout(30):
        assert (await again)["seq"] == before + 1
    await alice.until(lambda page: page.of_moves[-1] == "moves_count")
    assert await written(match, "once") == [before + 1]
    assert await written(match, "other") == []
    assert (await bob.do("lift", "other", tile=garage(bob)[0]))["type"] == "events"
    assert await match.faults() == []


async def test_a_form_whose_command_may_have_been_stored_says_so(
    new_match: NewMatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, tables = await new_match(), await here()
    alice, _ = await match.begun_inside(tables)

    def fail(game_id: int) -> None:
        raise OperationalError("no answer")

    with monkeypatch.context() as patch, writing_with(tables, LostAnswer()):
        patch.setattr(log, "settle", fail)
        words = {"command": '{"do": "ready", "on": true}', "id": "form-once"}
        response = await poster(match, 0).post(f"/games/{match.game.code}/exchange/", words)
        assert response.status_code == 422
        assert "Whether your last move counts will show in a moment." in response.content.decode()
    await alice.until(lambda page: page.sight["players"][0]["ready"])
    assert len(await written(match, "form-once")) == 1
    await stop_here()


async def test_the_same_command_by_way_of_two_processes_counts_once(
    web: Site, other_web: Site, new_match: NewMatch, so_often: Callable[[int, int], int]
) -> None:
    match = await new_match()
    first, _ = await match.search(web, other_web)
    for number in range(so_often(10, 200)):
        tile, command_id = garage(first)[0], f"once-{number}"
        # The answer may be lost, as the second page sends the first one away.
        second = match.page(other_web, 0, f"s{number}")
        await asyncio.gather(first.do("lift", command_id, tile=tile), second.open(), return_exceptions=True)
        answer = await second.do("lift", command_id, tile=tile)
        assert answer["type"] in ("ack", "events")
        assert len(await written(match, command_id)) == 1
        assert (await second.do("return", tile=tile, face="down"))["type"] == "events"
        await first.open()
        await second.close()
    assert await match.faults() == []
