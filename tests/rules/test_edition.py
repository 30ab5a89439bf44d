"""House edition 1 is what section 9 of the rules says; others work as data; wrong ones get a sentence."""

import json
from collections import Counter
from collections.abc import Callable

import pytest

from games.rules.documents import MOST_BYTES
from games.rules.edition import (
    TILES,
    Collection,
    Edition,
    EditionError,
    Unique,
    load_edition,
    parse_edition,
    read_edition,
)

House = dict[str, list[dict[str, object]]]


def house() -> House:
    copy: House = json.loads(json.dumps(load_edition().as_json()))
    return copy


def test_R1_2_there_are_54_tiles_18_of_each_place() -> None:
    assert Counter(place for place, _ in TILES) == {"garage": 18, "office": 18, "safe": 18}
    assert Counter(loot for _, loot in TILES) == {
        "jewels": 12,
        "cash": 12,
        "bag": 6,
        "iron_key": 4,
        "drawer": 4,
        "brass_key": 4,
        "gems": 8,
        "gold": 4,
    }
    assert {place for place, loot in TILES if loot in ("iron_key", "drawer")} == {"garage"}
    assert {place for place, loot in TILES if loot == "brass_key"} == {"office"}
    assert {place for place, loot in TILES if loot == "gems"} == {"office", "safe"}
    assert {place for place, loot in TILES if loot == "gold"} == {"safe"}


def test_R1_3_the_house_edition_has_60_art_tokens_24_cards_and_4_boards_with_two_faces() -> None:
    edition = load_edition()
    assert len(edition.art_tokens) == 60
    assert len(edition.cards) == 24
    assert sorted(edition.market) == ["1A", "1B", "2A", "2B", "3A", "3B", "4A", "4B"]


def test_R1_4_the_house_edition_agrees_with_every_printed_example() -> None:
    edition = load_edition()
    assert edition.card["manuscript-1"] == Collection("manuscript-1", ("manuscript",), (4,))
    assert edition.card["chalice-2"] == Collection("chalice-2", ("chalice",) * 2, (4, 7))
    assert edition.card["showcase-1"] == Collection("showcase-1", ("jewellery", "watch", "painting"), (5, 9, 14))
    assert edition.card["pharaoh"] == Unique("pharaoh", "statuette")
    printed = edition.market["4A"]
    assert dict(printed.cost) == {"gold": 1, "cash": 1}
    assert printed.art == 4
    assert len(printed.cards) == 3
    assert max(printed.cards) == 2


def test_the_cards_start_a_shuffle_in_the_order_of_section_9() -> None:
    ids = [card.id for card in load_edition().cards]
    assert ids[:3] == ["manuscript-1", "manuscript-2", "manuscript-3"]
    assert ids[9:11] == ["jewellery-1", "jewellery-2"]
    assert ids[15:] == [
        *("showcase-1", "showcase-2", "showcase-3"),
        *("psalter", "grail", "pharaoh", "tiara", "chronometer", "portrait"),
    ]


def test_an_edition_survives_writing_and_reading() -> None:
    edition = load_edition()
    assert read_edition(edition.as_json()) == edition
    assert parse_edition(json.dumps(edition.as_json())) == edition


def test_another_edition_is_only_another_file() -> None:
    data = house()
    data["cards"][0] |= {"id": "codex", "needs": ["watch", "chalice"], "worth": [3, 8]}
    data["markets"][0] |= {"cost": {"gems": 2, "jewels": 1}, "art": 5, "cards": [2, 2]}
    edition = read_edition({**data, "name": "house-2", "art": [["watch", 15], ["chalice", 5], *_tens(4)]})
    assert isinstance(edition, Edition)
    assert edition.card["codex"] == Collection("codex", ("watch", "chalice"), (3, 8))
    assert edition.market["1A"].cards == (2, 2)
    assert edition.art_tokens[:16] == ("watch",) * 15 + ("chalice",)


def test_names_that_nobody_knows_yet_are_left_alone() -> None:
    data = house()
    data["cards"][0]["colour"] = "red"
    assert read_edition({**data, "found": "balanced"}) == load_edition()


def test_an_edition_is_found_by_its_name_only() -> None:
    for name in ("house-0", "../editions/house-1", "", "HOUSE-1", "house-1\x00"):
        with pytest.raises(EditionError, match="there is no edition named"):
            load_edition(name)


def _tens(number: int) -> list[list[object]]:
    return [[kind, 10] for kind in ("manuscript", "statuette", "jewellery", "painting")[:number]]


def _card(change: dict[str, object]) -> Callable[[House], None]:
    return lambda data: data["cards"][1].update(change)


def _market(change: dict[str, object]) -> Callable[[House], None]:
    return lambda data: data["markets"][0].update(change)


def _set(**change: object) -> Callable[[House], None]:
    return lambda data: data.update(change)  # type: ignore[arg-type]


WRONG: dict[str, tuple[Callable[[House], object], str, str]] = {
    "no name": (lambda data: data.pop("name"), "missing", 'has no "name"'),
    "a name that is a path": (_set(name="../x"), "wrong_name", "small letters"),
    "art that is no list": (_set(art={}), "wrong_type", "the art is an object, it must be a list"),
    "an unknown kind of art": (_set(art=[["fresco", 60]]), "unknown_name", 'a kind of art is "fresco"'),
    "a row of art without a number": (_set(art=[["watch"]]), "wrong_type", "a kind and a number"),
    "a true number of art": (_set(art=[["watch", True]]), "wrong_type", "it must be a whole number"),
    "a kind of art twice": (
        _set(art=[["watch", 30], ["watch", 30]]),
        "art_kinds",
        "manuscript is listed 0 times",
    ),
    "59 art tokens": (_set(art=[["watch", 15], ["chalice", 4], *_tens(4)]), "art_number", "59 art tokens"),
    "a card with an unknown kind": (_card({"kind": "joker"}), "unknown_name", "kind of card manuscript-2"),
    "a card that needs unknown art": (
        _card({"needs": ["fresco", "watch"]}),
        "unknown_name",
        "a need of card",
    ),
    "a collection without slots": (_card({"needs": [], "worth": []}), "no_needs", "without slots"),
    "fewer numbers than slots": (_card({"worth": [4]}), "worth_length", "2 slots, but 1 numbers"),
    "a worth that falls": (_card({"worth": [7, 4]}), "worth_order", "does not rise"),
    "a worth that stays": (_card({"worth": [4, 4]}), "worth_order", "does not rise"),
    "a worth of a half": (_card({"worth": [4, 7.5]}), "wrong_type", "it must be a whole number"),
    "a worth of nothing": (_card({"worth": [0, 7]}), "out_of_range", "it must be 1 to 99"),
    "a card id twice": (_card({"id": "grail"}), "card_twice", "card grail is listed 2 times"),
    "a card id with spaces": (_card({"id": "a card"}), "wrong_name", "small letters"),
    "a card that is a number": (lambda data: data["cards"].append(7), "wrong_type", "card 25 is 7"),  # type: ignore[arg-type]
    "23 cards": (lambda data: data["cards"].pop(), "card_number", "there are 23 cards"),
    "a card longer than its art": (
        _card({"needs": ["watch"] * 11, "worth": [*range(1, 12)]}),
        "card_too_long",
        "needs 11 of watch, there are 10",
    ),
    "a unique piece of nothing": (
        lambda data: data["cards"][-1].pop("of"),
        "missing",
        'card portrait has no "of"',
    ),
    "a ninth face": (_market({"face": "5A"}), "unknown_name", "the face of market 1"),
    "a face twice": (_market({"face": "1B"}), "market_faces", "market 1A is listed 0 times"),
    "seven faces": (lambda data: data["markets"].pop(), "market_faces", "market 4B is listed 0 times"),
    "a cost of drawers": (
        _market({"cost": {"drawer": 1}}),
        "unknown_name",
        "a loot in the cost of market 1A",
    ),
    "no cost": (_market({"cost": {}}), "no_cost", "costs nothing"),
    "a cost of zero": (_market({"cost": {"cash": 0}}), "out_of_range", "it must be 1 to 6"),
    "seven loot": (
        _market({"cost": {"cash": 4, "jewels": 3}}),
        "cost_too_high",
        "nobody can ever pay market 1A",
    ),
    "five gold": (_market({"cost": {"gold": 5}}), "cost_too_high", "nobody can ever pay"),
    "no slot left for the keys": (
        _market({"cost": {"gold": 1, "cash": 4}}),
        "cost_too_high",
        "keys among them",
    ),
    "a triple slot": (_market({"cards": [3]}), "out_of_range", "it must be 1 to 2"),
    "a market with nothing to sell": (
        _market({"art": 0, "cards": []}),
        "nothing_to_sell",
        "neither art nor cards",
    ),
    "more art slots than art": (_market({"art": 55}), "art_short", "may need 65 art tokens"),
    "more card slots than cards": (_market({"cards": [2] * 12}), "cards_short", "may need 32 cards"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_edition_is_refused_with_a_sentence(name: str) -> None:
    change, code, sentence = WRONG[name]
    data = house()
    change(data)
    with pytest.raises(EditionError) as refused:
        read_edition(data)
    assert (refused.value.code, sentence in str(refused.value)) == (code, True), str(refused.value)


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ("", "not_json"),
        ("{", "not_json"),
        (b"\xff", "not_utf8"),
        ("[]", "wrong_type"),
        ('{"name": "a", "name": "b"}', "name_twice"),
        ('{"name": NaN}', "not_a_number"),
        ('{"name": 1e999}', "number_too_big"),
        ('{"name": ' + "9" * 5000 + "}", "number_too_big"),
        ('{"name": "\\ud800"}', "half_character"),
        ("[" * 100_000, "too_deep"),
        (b" " * (MOST_BYTES + 1), "too_big"),
    ],
)
def test_a_broken_edition_file_is_refused_with_a_sentence(document: str | bytes, code: str) -> None:
    with pytest.raises(EditionError) as refused:
        parse_edition(document)
    assert refused.value.code == code
