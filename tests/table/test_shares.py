"""How the chance of a game is made: all commit, then all open, and no party chooses last."""

import asyncio
import secrets
from typing import Any

import pytest
from channels.db import database_sync_to_async

from games import opening, shares
from games.models import FairnessLine
from games.opening import Opened
from games.rules import terms
from games.rules.chance import NO_NONCE
from games.rules.fairness import share_of
from games.tables import Tables
from tests.browser.site import Site
from tests.table.conftest import Match, NewMatch, NewTables, eventually, skip
from tests.table.inside import InnerPage
from tests.table.page import Page

pytestmark = [pytest.mark.both_databases]

ALICES, BOBS = bytes(range(16)), bytes(range(16, 32))
# It waits for a day, however busy this machine is.
RELAXED: dict[str, Any] = {"pace": "relaxed", "limits": terms.DEFAULT_LIMITS["relaxed"]}


async def opened(match: Match) -> Opened:
    found = await database_sync_to_async(opening.find_by_id)(match.game.pk)
    assert found is not None
    return found


async def nonces(match: Match) -> list[bytes]:
    return [seat.nonce for seat in (await opened(match)).terms().seats]


async def committed(match: Match, *webs: Site) -> list[Page]:
    """Two pages that have committed, and have been told so."""
    pages = [await match.page(webs[seat % len(webs)], seat).open() for seat in range(2)]
    for page, nonce in zip(pages, (ALICES, BOBS), strict=True):
        await page.send(do="share", share=share_of(nonce))
    return pages


async def test_no_share_is_shown_before_the_last_player_has_committed(
    web: Site, other_web: Site, new_match: NewMatch
) -> None:
    match = await new_match(**RELAXED)
    alice, bob = [await match.page(site, seat).open() for seat, site in enumerate((web, other_web))]
    await alice.send(do="share", share=share_of(ALICES))
    await alice.until(lambda page: page.share == share_of(ALICES))
    assert share_of(ALICES) not in "".join(bob.frames)
    assert alice.shares == {}
    await bob.send(do="share", share=share_of(BOBS))
    for page in (alice, bob):
        await page.until(lambda page: bool(page.shares))
        assert page.shares["shares"] == [share_of(ALICES), share_of(BOBS)]
        assert page.shares["counts"] == [False, False]
    await bob.send(do="nonce", nonce=BOBS.hex())
    await bob.until(lambda page: page.nonce == BOBS.hex())
    assert bob.sight == {}
    await alice.send(do="nonce", nonce=ALICES.hex())
    for page in (alice, bob):
        await page.until(lambda page: bool(page.sight))
        assert page.shares["counts"] == [True, True]
    assert await nonces(match) == [ALICES, BOBS]
    assert await match.faults() == []


async def time_is_over(tables: Tables, match: Match) -> None:
    """What a relaxed game waits for has not come within its day."""
    table = await tables.table(match.game.code)
    assert table is not None
    skip(tables, opening.NONCE_MS["relaxed"])
    table.wake()
    await table.settle()


async def test_another_nonce_than_the_one_committed_to_does_not_count(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, tables = await new_match(**RELAXED), await new_tables()
    alice, bob = [await InnerPage(seat).join(tables, match.game) for seat in range(2)]
    alice.commit(share_of(ALICES))
    bob.commit(share_of(BOBS))
    await bob.until(lambda page: bool(page.shares))
    alice.give_nonce(ALICES)
    # Bob knows Alice's by now, and would choose his anew.
    bob.give_nonce(secrets.token_bytes(16))
    await bob.until(lambda page: page.nonce == NO_NONCE.hex())
    assert bob.sight == {}
    await time_is_over(tables, match)
    await bob.until(lambda page: bool(page.sight))
    assert alice.shares["counts"] == bob.shares["counts"] == [True, False]
    assert alice.shares["shares"] == [share_of(ALICES), share_of(BOBS)]
    assert await nonces(match) == [ALICES, NO_NONCE]
    # What he withheld stands in the record for good, and is no fault of the game.
    assert (await opened(match)).shares()[1] == share_of(BOBS)
    assert await match.faults() == []


async def test_what_comes_after_the_shares_are_fixed_is_answered_so(new_match: NewMatch, new_tables: NewTables) -> None:
    match, tables = await new_match(**RELAXED), await new_tables()
    alice, bob = [await InnerPage(seat).join(tables, match.game) for seat in range(2)]
    alice.commit(share_of(ALICES))
    await alice.until(lambda page: page.share == share_of(ALICES))
    # Another process does it when the time is over.
    await database_sync_to_async(shares.fix)(match.game.pk)
    await alice.until(lambda page: bool(page.shares))
    assert alice.shares["shares"] == [share_of(ALICES), None]
    bob.commit(share_of(BOBS))
    bob.give_nonce(BOBS)
    alice.commit(share_of(BOBS))
    alice.give_nonce(ALICES)
    for page in (alice, bob):
        await page.until(lambda page: page.nonce != "")
    assert (alice.share, bob.share) == (share_of(ALICES), None)
    assert (alice.nonce, bob.nonce) == (ALICES.hex(), NO_NONCE.hex())
    assert await nonces(match) == [ALICES, NO_NONCE]


async def test_a_line_cut_between_committing_and_opening_loses_nothing(web: Site, new_match: NewMatch) -> None:
    match = await new_match(**RELAXED)
    alice, bob = await committed(match, web)
    await alice.until(lambda page: bool(page.shares))
    await alice.cut()
    alice.shares = {}
    await alice.open()
    await alice.until(lambda page: bool(page.shares))
    for page, nonce in ((alice, ALICES), (bob, BOBS)):
        await page.send(do="nonce", nonce=nonce.hex())
    for page in (alice, bob):
        await page.until(lambda page: bool(page.sight))
    assert await nonces(match) == [ALICES, BOBS]


async def test_of_two_tabs_the_one_that_plays_commits(new_match: NewMatch, new_tables: NewTables) -> None:
    match, tables = await new_match(**RELAXED), await new_tables()
    first = await InnerPage(0, "first").join(tables, match.game)
    first.commit(share_of(BOBS))
    second = await InnerPage(0, "second").join(tables, match.game)
    second.commit(share_of(ALICES))
    bob = await InnerPage(1).join(tables, match.game)
    bob.commit(share_of(BOBS))
    await second.until(lambda page: bool(page.shares))
    assert second.shares["shares"] == [share_of(ALICES), share_of(BOBS)]
    second.give_nonce(ALICES)
    bob.give_nonce(BOBS)
    await second.until(lambda page: bool(page.sight))
    assert await nonces(match) == [ALICES, BOBS]


async def test_a_process_that_dies_between_committing_and_opening_costs_nothing(web: Site, new_match: NewMatch) -> None:
    match = await new_match(**RELAXED)
    pages = await committed(match, web)
    for page in pages:
        await page.until(lambda page: bool(page.shares))
    fixed = pages[0].shares
    web.kill()
    web.start()
    for page, nonce in zip(pages, (ALICES, BOBS), strict=True):
        page.shares = {}
        await page.open()
        await page.until(lambda page: bool(page.shares))
        assert page.shares["shares"] == fixed["shares"]
        assert page.shares["line"] == fixed["line"]
        await page.send(do="nonce", nonce=nonce.hex())
    for page in pages:
        await page.until(lambda page: bool(page.sight))
    assert await nonces(match) == [ALICES, BOBS]
    assert await database_sync_to_async(FairnessLine.objects.count)() == 1
    assert await match.faults() == []


async def test_a_nonce_given_at_once_is_its_own_commitment(new_match: NewMatch, new_tables: NewTables) -> None:
    match, tables = await new_match(**RELAXED), await new_tables()
    pages = [await InnerPage(seat).join(tables, match.game) for seat in range(2)]
    pages[0].give_nonce(ALICES)
    pages[0].give_nonce(BOBS)
    pages[1].give_nonce(BOBS)
    for page in pages:
        await page.until(lambda page: bool(page.sight))
    assert pages[1].shares["shares"] == [share_of(ALICES), share_of(BOBS)]
    assert await nonces(match) == [ALICES, BOBS]


async def test_a_game_whose_pages_are_gone_after_committing_begins(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(opening.NONCE_MS, "live", 100)
    match = await new_match()
    await database_sync_to_async(shares.commit)(match.game.pk, 0, share_of(ALICES))
    await new_tables()

    async def begun() -> bool:
        return not (await opened(match)).lacks_nonces()

    await eventually(begun)
    assert await nonces(match) == [NO_NONCE] * 2
    assert (await opened(match)).counting() == [False, False]


async def test_two_processes_tell_their_pages_of_the_same_line(new_match: NewMatch, new_tables: NewTables) -> None:
    processes = [await new_tables(), await new_tables()]
    for _ in range(5):
        match = await new_match(4, **RELAXED)
        pages = [await InnerPage(seat, f"p{seat}").join(processes[seat % 2], match.game) for seat in range(4)]
        own = [secrets.token_bytes(16) for _ in pages]
        for page, nonce in zip(pages, own, strict=True):
            page.commit(share_of(nonce))
        await asyncio.gather(*(page.until(lambda page: bool(page.shares)) for page in pages))
        assert len({str(page.shares["line"]) for page in pages}) == 1
        for page, nonce in zip(pages, own, strict=True):
            page.give_nonce(nonce)
        await asyncio.gather(*(page.until(lambda page: bool(page.sight)) for page in pages))
        assert await nonces(match) == own
        assert await match.faults() == []
