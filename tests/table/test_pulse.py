"""What staff read of how a process does: the moves that were made."""

import asyncio

import pytest

from games.pulse import pulse
from tests.table.conftest import NewMatch, NewTables, garage

pytestmark = [pytest.mark.both_databases]


async def test_a_command_that_is_refused_is_no_move(new_match: NewMatch, new_tables: NewTables) -> None:
    alice, bob = await (await new_match()).inside(await new_tables())
    tile, before = garage(alice)[0], pulse.moves
    answers = await asyncio.gather(*(page.ask_for("lift", tile=tile) for page in (alice, bob)))
    assert [answer["type"] for answer in answers] == ["events", "refused"]
    assert (await bob.do("lift", tile=tile))["code"] == "tile_gone"
    assert pulse.moves == before + 1
