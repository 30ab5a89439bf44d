"""The words that ask for commands, read strictly."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.rules import commands
from games.rules.commands import WORDS, Buy, Command, Escape, Leave, Lift, OpenBag, Pass, Place, Ready, Return, Stash
from games.rules.errors import CODES, SENTENCES, Malformed

ONE_OF_EACH: dict[str, Command] = {
    '{"do": "ready", "on": true}': Ready(True),
    '{"do": "lift", "tile": 17}': Lift(17),
    '{"do": "stash", "tile": 0}': Stash(0),
    '{"do": "return", "tile": 53, "face": "up"}': Return(53, "up"),
    '{"do": "escape"}': Escape(),
    '{"do": "buy", "market": 1, "art": 2, "pay": [17, 3]}': Buy(1, (3, 17), art=2),
    '{"do": "buy", "market": 3, "cards": 0, "pay": [9]}': Buy(3, (9,), cards=0),
    '{"do": "open_bag", "tile": 5}': OpenBag(5),
    '{"do": "place", "art": "watch", "card": "showcase-1"}': Place("watch", "showcase-1"),
    '{"do": "pass"}': Pass(),
    '{"do": "leave"}': Leave(),
}


@pytest.mark.parametrize("words", ONE_OF_EACH)
def test_a_command_is_read_from_its_words_and_written_in_them(words: str) -> None:
    command = ONE_OF_EACH[words]
    assert commands.read(json.loads(words)) == command
    assert commands.read(json.loads(json.dumps(commands.write(command)))) == command


def test_every_word_has_its_example() -> None:
    assert {json.loads(words)["do"] for words in ONE_OF_EACH} == set(WORDS)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("17", "a command is 17, it must be an object"),
        ("[]", "a command is a list, it must be an object"),
        ("{}", 'a command has no "do"'),
        ('{"do": "jump"}', '"do" is "jump", it must be one of'),
        ('{"do": ["lift"]}', '"do" is a list'),
        ('{"do": "lift"}', '"lift" has no "tile"'),
        ('{"do": "lift", "tile": "17"}', 'a tile is "17", it must be a whole number'),
        ('{"do": "lift", "tile": true}', "a tile is true, it must be a whole number"),
        ('{"do": "lift", "tile": 1.0}', "a tile is 1.0, it must be a whole number"),
        ('{"do": "lift", "tile": 54}', "a tile is 54, it must be 0 to 53"),
        ('{"do": "lift", "tile": -1}', "a tile is -1, it must be 0 to 53"),
        ('{"do": "lift", "tile": 1, "seat": 2}', "\"lift\" has no field 'seat'"),
        ('{"do": "ready", "on": 1}', '"on" is 1, it must be true or false'),
        ('{"do": "return", "tile": 1, "face": "side"}', '"face" is "side"'),
        ('{"do": "buy", "market": 0, "pay": [1]}', '"buy" needs either "art" or "cards"'),
        ('{"do": "buy", "market": 0, "pay": [1], "art": 0, "cards": 0}', '"buy" needs either "art" or "cards"'),
        ('{"do": "buy", "market": 0, "pay": [], "art": 0}', '"pay" has 0 tiles'),
        ('{"do": "buy", "market": 0, "pay": [1, 2, 3, 4, 5, 6, 7], "art": 0}', '"pay" has 7 tiles'),
        ('{"do": "buy", "market": 0, "pay": [1, 1], "art": 0}', '"pay" names a tile twice'),
        ('{"do": "buy", "market": 0, "pay": 1, "art": 0}', '"pay" is 1, it must be a list'),
        ('{"do": "buy", "market": 4, "pay": [1], "art": 0}', '"market" is 4, it must be 0 to 3'),
        ('{"do": "buy", "pay": [1], "art": 0}', '"buy" has no "market"'),
        ('{"do": "buy", "market": 0, "art": 0}', '"buy" has no "pay"'),
        ('{"do": "place", "art": "vase", "card": "x"}', '"art" is "vase"'),
        ('{"do": "place", "art": "watch", "card": 7}', '"card" is 7, it must be a text'),
    ],
)
def test_what_is_no_command_is_refused_with_the_problem(words: str, problem: str) -> None:
    with pytest.raises(Malformed) as refused:
        commands.read(json.loads(words))
    assert refused.value.code == "malformed"
    assert str(refused.value.values["problem"]).startswith(problem)
    assert str(refused.value).startswith(f"This is not a command: {problem}")


def test_a_long_word_is_not_repeated_whole() -> None:
    for data in (
        {"do": "x" * 10_000},
        {"do": "pass", "x" * 10_000: 1},
        {"do": "place", "art": "x" * 10_000, "card": ""},
    ):
        with pytest.raises(Malformed) as refused:
            commands.read(data)
        assert len(str(refused.value)) < 300


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
ALMOST = st.fixed_dictionaries(
    {"do": st.sampled_from([*WORDS, "jump"])},
    optional=dict.fromkeys(("on", "tile", "face", "market", "pay", "art", "cards", "card", "id"), JSON),
)


@given(data=ALMOST | JSON)
def test_whatever_is_sent_is_a_command_or_malformed(data: object) -> None:
    try:
        command = commands.read(data)
    except Malformed:
        return
    assert commands.read(commands.write(command)) == command


def test_a_purchase_is_of_one_slot() -> None:
    for art, cards in ((None, None), (0, 0)):
        with pytest.raises(ValueError, match="one slot"):
            Buy(0, (1,), art, cards)


def test_every_code_has_its_sentence() -> None:
    assert tuple(SENTENCES) == CODES
    assert all(sentence.endswith(".") and sentence[0].isupper() for sentence in SENTENCES.values())
