"""No player fills the log: there is a bound to what one seat can say, to a game, and to how long a live one waits."""

import asyncio
from dataclasses import replace

import pytest
from channels.db import database_sync_to_async

from accounts.models import User
from games import allowance, rooms
from games.forms import RoomForm
from games.models import Event, Game, Room
from games.rules import terms
from games.rules.events import Ready
from tests.browser.site import Site
from tests.table.conftest import QUICK, NewMatch, NewTables, garage, log_of, same_as_reload
from tests.table.inside import InnerPage

pytestmark = [pytest.mark.both_databases]

SHORT = replace(QUICK, hand_ms=60_000, search_ms=30 * 60_000, events=1_000)
WEEK_MS = 7 * 24 * 60 * 60 * 1_000


@database_sync_to_async
def changes_in(game: Game) -> int:
    return sum(isinstance(event, Ready) for event in log_of(game.pk))


async def test_ready_is_refused_after_ten_times_and_the_page_knows(web: Site, new_match: NewMatch) -> None:
    match = await new_match()
    alice, bob = await match.sit_down(web)
    for turn in range(terms.MOST_READIES):
        assert alice.sight["players"][0]["readies"] == terms.MOST_READIES - turn
        for on in (True, False):
            assert (await alice.do("ready", on=on))["type"] == "events"
        await asyncio.sleep(2 / allowance.MOST_COMMANDS)
    assert alice.sight["players"][0]["readies"] == 0
    assert "readies" not in bob.sight["players"][0]
    answer = await alice.do("ready", on=True)
    assert (answer["type"], answer["code"]) == ("refused", "ready_too_often")
    assert "10 times at most" in answer["text"]
    assert await changes_in(match.game) == 2 * terms.MOST_READIES
    await same_as_reload(alice)
    # The others are not held up longer than the round's limit.
    assert (await bob.do("ready", on=True))["type"] == "events"
    assert await match.faults() == []


async def test_coming_and_going_fills_no_log(new_match: NewMatch, new_tables: NewTables) -> None:
    match, tables = await new_match(), await new_tables()
    await match.begun_inside(tables)
    for turn in range(2 * terms.MOST_READIES):
        page = await InnerPage(0, f"p{turn}").join(tables, match.game)
        await page.do("ready", on=True)
        page.leave()
        await page.settle()
    assert await changes_in(match.game) == 2 * terms.MOST_READIES
    # Going away counts to the last: a player who is not there is not ready.
    assert not page.sight["players"][0]["ready"]


@pytest.mark.slow
async def test_a_filled_game_ends_void_at_its_greatest_length(new_match: NewMatch, new_tables: NewTables) -> None:
    match, tables = await new_match(limits=SHORT), await new_tables()
    alice, bob = await match.inside(tables)
    tile, other = garage(alice)[:2]
    while bob.sight["phase"] == "search":
        # Two at once: what is decided together ends together.
        answers = [alice.ask_for("lift", tile=tile), bob.ask_for("lift", tile=other)]
        answers += [alice.ask_for("return", tile=tile, face="down"), bob.ask_for("return", tile=other, face="up")]
        async with asyncio.timeout(30):
            await asyncio.gather(*answers)
    assert {page.sight["reveal"]["reason"] for page in (alice, bob)} == {"void"}
    assert (await alice.do("lift", tile=tile))["code"] == "game_over"
    game = await Game.objects.aget(pk=match.game.pk)
    assert (game.head, game.reason, game.ended is None) == (1_000, "void", False)
    assert await Event.objects.filter(game=game).acount() == 1_000
    assert await match.faults() == []


@pytest.mark.django_db
def test_a_live_room_from_before_waits_for_minutes_only() -> None:
    alice, bob = (User.objects.create_user(name) for name in ("Alice", "Bob"))
    room = rooms.open_room(alice)
    rooms.sit(room, bob)
    Room.objects.filter(pk=room.pk).update(limits=terms.DEFAULT_LIMITS["live"].as_json() | {"ready_ms": WEEK_MS})
    room.refresh_from_db()
    for person in (alice, bob):
        rooms.agree(room, person)
    limits = terms.Limits(**Game.objects.get().limits)
    assert (limits.ready_ms, limits.events, limits.readies) == (terms.MOST_LIVE_READY_MS, 20_000, 10)


@pytest.mark.parametrize(
    ("pace", "number", "is_allowed"), [("live", 300, True), ("live", 301, False), ("relaxed", 10_080, True)]
)
def test_the_form_of_a_live_room_takes_no_days_for_getting_ready(pace: str, number: int, is_allowed: bool) -> None:
    said = {"size": 2, "rulebook": "fr", "pace": pace, "ranked": "no", "public": "yes", "bots": 0}
    form = RoomForm(said | {"ready_ms": number})
    form.is_valid()
    assert ("ready_ms" not in form.errors) == is_allowed, form.errors
    assert is_allowed or "Between 10 and 300" in str(form.errors["ready_ms"])
