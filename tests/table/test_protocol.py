"""games/PROTOCOL.md is enough to play, and it says what the code does."""

import asyncio
import re
from pathlib import Path
from typing import Any, cast

import pytest

from games import allowance, consumers, opening, rules, sentences, shares
from games.frames import CloseCode
from games.rules import commands, errors
from midnight.management.commands import web as web_command
from tests.browser.site import Site
from tests.client import play
from tests.rules.random_play import Luck, random_game, terms_for
from tests.table.conftest import NewMatch

TEXT = (Path(consumers.__file__).parent / "PROTOCOL.md").read_text()
PARTS = dict(part.split("\n", 1) for part in TEXT.split("\n## ")[1:])
# The fields that not every event of its type has.
OPTIONAL = {
    "lifted": {"loot"},
    "returned": {"loot"},
    "bought": {"art", "cards"},
    "game_ended": {"by"},
    "resumed": {"stalled"},
}


def rows(text: str) -> dict[str, str]:
    """The rows of the tables in a text: each name or number in the first column, with the rest of its row."""
    found = {}
    for line in re.findall(r"^\| (.*) \|$", text, flags=re.M):
        first, _, rest = line.partition(" |")
        for name in re.findall(r"`(\w+)`", first) or re.findall(r"^\d+$", first):
            found[name] = rest
    return found


def names(text: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", text))


@pytest.mark.slow
@pytest.mark.both_databases
async def test_a_stranger_plays_a_whole_game_from_the_protocol_alone(
    web: Site, other_web: Site, new_match: NewMatch
) -> None:
    match = await new_match(4)
    pages = [match.page((web, other_web)[seat % 2], seat) for seat in range(4)]
    reveals = await asyncio.gather(*(play(page.address, page.headers) for page in pages))
    assert all(reveal == reveals[0] for reveal in reveals)
    assert sorted(reveals[0]["ranking"]) == [0, 1, 2, 3]
    assert max(score["total"] for score in reveals[0]["scores"]) > 0
    assert await match.faults() == []


def test_the_words_of_play_are_those_that_the_rules_read_with_their_fields() -> None:
    said = {word: names(rest.split("|")[0]) - {"up", "down"} for word, rest in rows(PARTS["Play"]).items()}
    assert said == {word: set(fields) for word, (fields, _) in commands.WORDS.items()}


def test_every_refusal_is_listed_and_no_other() -> None:
    # What the rules call malformed is `unreadable` at this door.
    assert rows(PARTS["Refusals"]).keys() == {*errors.CODES, *sentences.OF_THE_TABLE} - {"malformed"}


def test_every_close_code_is_listed_with_its_notice() -> None:
    listed = {int(code): names(rest.split("|")[0]) for code, rest in rows(PARTS["Stay"]).items() if code.isdigit()}
    assert listed.keys() == {*CloseCode}
    assert set().union(*listed.values()) == sentences.NOTICES.keys()


def test_every_notice_of_how_it_stands_with_the_moves_is_listed() -> None:
    listed = {name for name in rows(PARTS["Stay"]) if not name.isdigit()}
    assert listed - {"notice"} == sentences.OF_MOVES.keys()


def test_the_limits_are_those_of_the_code() -> None:
    connect, play_part, stay = PARTS["Connect"], PARTS["Play"], PARTS["Stay"]
    assert f"within {consumers.QUIET_SECONDS:.0f} seconds" in connect
    for sentence, waits in (("or {} seconds\nhave passed", opening.NONCE_MS), ("once more {} seconds", shares.OPEN_MS)):
        assert sentence.format(waits["live"] // 1000) in connect
        assert connect.count(f"({waits['relaxed'] // 3_600_000} hours in a relaxed game)") == 2
    assert "up to 20 letters and digits" in connect
    assert "1 to 40 letters, digits, `-` and `_`" in play_part
    assert f"not heard of for {consumers.QUIET_SECONDS:.0f} seconds" in stay
    assert f"more than {consumers.MOST_UNREAD_BYTES // 1024} KiB unread" in stay
    assert f"more than {consumers.MOST_BYTES:,} bytes" in PARTS["Refusals"]
    assert f"more than {web_command.LONGEST_MESSAGE // 1024} KiB at once are closed with 1009" in PARTS["Refusals"]
    assert f"more than {allowance.MOST_COMMANDS} messages a second" in PARTS["Refusals"]
    assert f"after {consumers.MOST_UNREADABLE} of these" in PARTS["Refusals"]


def test_a_sight_has_the_members_that_are_listed() -> None:
    state = random_game(terms_for(1), 1).state
    listed, rest = PARTS["See"].split("\nA player: ")
    of_everybody, of_ones_own = rest.split("**Events**")[0].split("Your own has")
    told = rest.split("If it has a `now`")[1].split("If it has neither")[0]
    seen = cast(dict[str, Any], rules.sight(state, 0))
    own, other = seen["players"]
    assert rows(listed).keys() == seen.keys()
    assert names(rows(listed)["reveal"]) == seen["reveal"].keys()
    assert names(of_everybody) - {"card", "filled"} == other.keys()
    assert names(of_ones_own) == (own.keys() - other.keys()) | own["points"].keys() - {"seat"}
    moment = cast(dict[str, Any], rules.sight_of_moment(state, 0))
    assert names(told) - {"now"} == moment.keys() | moment["own"].keys()


def test_events_have_the_fields_that_are_listed() -> None:
    listed = {name: names(rest.split("|")[0]) for name, rest in rows(PARTS["See"].split("**Events**")[1]).items()}
    # The row of these two names the fields of both.
    assert listed["abandoned"] == listed["resumed"] == {"seat", "by", "lost_ms", "stalled"}
    listed |= {"abandoned": {"seat", "by"}, "resumed": {"lost_ms", "stalled"}}
    seen: dict[str, set[str]] = {}
    for seed in range(12):
        game = random_game(terms_for(seed, players=3), seed, Luck(leave=2, crash=5, void=seed % 2))
        state = rules.blank(game.terms)
        for event in game.log:
            state = rules.apply(state, event)
            fields = rules.sight_of_event(state, event, 0).keys() - {"seq", "at", "type"}
            assert listed[event.type] - OPTIONAL.get(event.type, set()) <= fields
            seen.setdefault(event.type, set()).update(fields)
    assert seen == listed
