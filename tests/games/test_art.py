"""Every piece of the game has a picture of its own and a name, whatever edition is played."""

import json
import re
import xml.etree.ElementTree as ET
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.template import Context, Template
from django.template.loader import render_to_string

from games import names, rules
from games.bots.selfplay import self_play
from games.bots.strengths import STRENGTHS
from games.rules.chance import BOARDS
from games.rules.edition import (
    ART,
    LOOT,
    LOOT_TABLE,
    PLACES,
    SLOTS,
    Collection,
    Edition,
    Loot,
    Place,
    load_edition,
    read_edition,
)
from games.rules.state import State
from games.rules.terms import CHARACTERS, DEFAULT_LIMITS, PLAYERS, RULEBOOKS, Seat, Terms
from games.templatetags.art import pictures, placed, slots_of

STATIC = Path(__file__).resolve().parents[2] / "games/static/games"
SPRITE = STATIC / "art/pictures.svg"
MOST_BYTES = 60 * 1024
SVG = "{http://www.w3.org/2000/svg}"
SYMBOLS = {symbol.attrib["id"] for symbol in ET.parse(SPRITE).iter(f"{SVG}symbol")}


class Drawn(HTMLParser):
    """What a piece of HTML draws: its symbols, its names, and whatever a strict CSP would refuse."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.symbols: list[str] = []
        self.names: list[str] = []
        self.texts: list[str] = []
        self.hidden = 0
        self.refused: list[str] = []
        self._tag = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag = tag
        said = dict(attrs)
        self.hidden += tag == "svg" and said.get("aria-hidden") == "true"
        self.refused += [name for name in said if name == "style" or name.startswith("on")]
        if tag in {"style", "script"}:
            self.refused.append(tag)
        if tag == "use":
            file, _, symbol = (said["href"] or "").partition("#")
            assert file == pictures()
            self.symbols.append(symbol)

    def handle_data(self, data: str) -> None:
        if self._tag == "title":
            self.names.append(data)
        if self._tag == "text":
            self.texts.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""


def draw(source: str, **context: Any) -> Drawn:
    """What these tags draw, and that all of it is there."""
    drawn = Drawn(Template("{% load art %}" + source).render(Context({"edition": load_edition(), **context})))
    assert set(drawn.symbols) <= SYMBOLS
    assert not drawn.refused
    return drawn


@pytest.fixture(scope="module")
def other_edition() -> Edition:
    """An edition with collections, unique pieces and markets that the house edition does not have."""
    data = load_edition().as_json()
    cards: Any = data["cards"]
    cards[0] = {"id": "all-six", "kind": "collection", "needs": list(ART), "worth": [1, 2, 4, 8, 16, 99]}
    cards[1] = {"id": "odd-pair", "kind": "collection", "needs": ["watch", "chalice"], "worth": [6, 12]}
    cards[-1] = {"id": "first-folio", "kind": "unique", "of": "manuscript"}
    markets: Any = data["markets"]
    markets[0] |= {"cost": {"gold": 2, "gems": 1, "cash": 1}, "art": 9, "cards": [2, 2, 1, 1, 1]}
    markets[1] |= {"art": 0}
    return read_edition(json.loads(json.dumps(data | {"name": "other"})))


@pytest.fixture(scope="module")
def exchange() -> State:
    """A state in the middle of a game: something is sold, something is filled, something lies face down."""
    seats = tuple(Seat("bot", character) for character in CHARACTERS)
    terms = Terms("fr", "live", False, DEFAULT_LIMITS["live"], load_edition(), seats, bytes(range(32)))
    state = rules.blank(terms)
    for event in self_play(terms, ["burglar"] * len(seats), "art"):
        state = rules.apply(state, event)
        held = [card for player in state.players for card in player.cards]
        if event.type == "bought" and any(card.filled for card in held) and any(player.art for player in state.players):
            break
    assert state.phase == "exchange"
    return state


# The file


def test_all_pictures_together_are_small() -> None:
    assert sum(file.stat().st_size for file in (STATIC / "art").iterdir()) < MOST_BYTES


def test_a_symbol_has_a_field_and_presentation_attributes_only() -> None:
    root = ET.parse(SPRITE).getroot()
    assert len(SYMBOLS) == len(list(root))
    assert all("viewBox" in symbol.attrib for symbol in root)
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in {"svg", "symbol", "g", "path", "circle", "ellipse"}
        assert not {"style", "class", "href"} & set(element.attrib)
        assert not any(name.startswith("on") for name in element.attrib)
        assert not any("url(" in value for value in element.attrib.values())


def test_every_colour_of_a_theme_has_one_to_fall_back_on() -> None:
    variables = re.findall(r"var\((--[a-z-]+)(, [^)]+)?\)", SPRITE.read_text())
    sheet = (STATIC / "css/board.css").read_text()
    assert {name for name, _ in variables} == {"--art-paper", "--art-pattern", "--art-pattern-width"}
    assert all(fallback and f"{name}:" in sheet for name, fallback in variables)


# Tiles, loot, art, tokens, burglars


@pytest.mark.parametrize(
    ("tag", "things", "words"),
    [
        ("tile_art", PLACES, names.PLACES),
        ("loot", LOOT, names.LOOT),
        ("art", ART, names.ART),
        ("character", CHARACTERS, names.CHARACTERS),
        ("burglar", CHARACTERS, names.CHARACTERS),
    ],
)
def test_every_kind_has_a_picture_of_its_own_and_its_name(
    tag: str, things: tuple[str, ...], words: dict[str, names.Name]
) -> None:
    drawn = [draw(f"{{% {tag} kind %}}", kind=kind) for kind in things]
    assert set(words) == set(things)
    assert len({tuple(one.symbols) for one in drawn}) == len(things)
    assert all(str(words[kind]) in one.names[0] for kind, one in zip(things, drawn, strict=True))


@pytest.mark.parametrize(("place", "loot"), [(place, loot) for place, rows in LOOT_TABLE for loot, _ in rows])
def test_a_tile_that_lies_face_up_shows_place_and_loot(place: Place, loot: Loot) -> None:
    drawn = draw("{% tile_art place loot %}", place=place, loot=loot)
    assert drawn.symbols == [f"back-{place}", f"loot-{loot}"]
    assert str(names.LOOT[loot]) in drawn.names[0]
    assert str(names.PLACES[place]) in drawn.names[0]


def test_silver_and_gold_differ_in_shape() -> None:
    assert draw("{% art 'chalice' %}").symbols == ["disc-silver", "art-chalice"]
    assert draw("{% art 'watch' %}").symbols == ["disc-gold", "art-watch"]


def test_there_is_an_escape_token_for_every_player() -> None:
    drawn = draw("{% for number in numbers %}{% token number %}{% endfor %}", numbers=range(1, max(PLAYERS) + 1))
    assert drawn.symbols == ["token", "token-1", "token", "token-2", "token", "token-3", "token", "token-4"]
    assert drawn.names == ["Escape token 1", "Escape token 2", "Escape token 3", "Escape token 4"]


def test_bag_lock_hand_and_card_back_are_drawn() -> None:
    drawn = draw("{% bag_of_art %}{% lock %}{% hand %}{% card_back %}")
    assert len(drawn.symbols) == len(drawn.names) == 4


def test_a_picture_beside_its_word_is_silent() -> None:
    drawn = draw(
        "{% loot 'gold' hidden=True %}{% character 'amber' hidden=True %}{% card edition 'grail' hidden=True %}"
    )
    assert drawn.names == []
    assert drawn.hidden == 3


def test_rulebooks_and_strengths_of_bots_have_names() -> None:
    assert set(names.RULEBOOKS) == set(RULEBOOKS)
    assert set(names.STRENGTHS) == set(STRENGTHS)


# Cards


@pytest.mark.parametrize("name", load_edition().card)
def test_every_card_of_the_house_edition_shows_what_it_asks_for_and_gives(name: str) -> None:
    card = load_edition().card[name]
    drawn = draw("{% card edition name %}", name=name)
    assert drawn.names[0].startswith(names.of_card(card))
    if isinstance(card, Collection):
        assert [symbol for symbol in drawn.symbols if symbol.startswith("art-")] == [
            f"art-{kind}" for kind in card.needs
        ]
        assert drawn.texts == [str(number) for number in card.worth]
    else:
        assert drawn.symbols == ["card-unique", f"unique-{name}"]
        assert drawn.texts == ["3"]


def test_every_unique_piece_has_a_name_of_its_own() -> None:
    ours = [name for name, card in load_edition().card.items() if not isinstance(card, Collection)]
    assert set(names.UNIQUES) == set(ours)
    assert set(names.UNIQUES_OF) == set(names.COLLECTIONS) == set(ART)


def test_filled_slots_lie_at_the_foot_and_bear_a_token() -> None:
    drawn = draw("{% card edition 'chalice-3' 2 %}")
    assert drawn.symbols[1:] == [
        "disc-silver",
        "art-chalice",
        "disc-silver",
        "art-chalice",
        "slot-silver",
        "art-chalice",
    ]
    assert drawn.names == [
        "Collection of chalices: 7 points now. "
        "Slots from the lowest: Chalice for 4, filled; Chalice for 7, filled; Chalice for 11"
    ]
    low, middle, high = slots_of(["chalice"] * 3, [4, 7, 11], 2)
    assert low.y > middle.y > high.y
    assert [slot.now for slot in (low, middle, high)] == [False, True, False]


def test_a_complete_card_is_full() -> None:
    assert "slot-gold" not in draw("{% complete_card edition 'showcase-1' %}").symbols
    assert draw("{% complete_card edition 'tiara' %}").symbols == ["card-unique", "unique-tiara"]


def test_a_showcase_looks_like_one() -> None:
    assert draw("{% card edition 'showcase-2' %}").symbols[0] == "card-showcase"
    assert draw("{% card edition 'watch-2' %}").symbols[0] == "card-collection"


@pytest.mark.parametrize("filled", [0, 1, 6])
def test_another_editions_collection_keeps_to_its_card(other_edition: Edition, filled: int) -> None:
    drawn = draw("{% card edition 'all-six' filled %}", edition=other_edition, filled=filled)
    assert drawn.texts == ["1", "2", "4", "8", "16", "99"]
    assert drawn.symbols.count("disc-silver") + drawn.symbols.count("disc-gold") == filled
    slots = slots_of(ART, [1, 2, 4, 8, 16, 99], filled)
    assert all(slot.y > 0 and slot.y + slot.size < 140 for slot in slots)
    assert all(lower.y >= higher.y + higher.size for lower, higher in pairwise(slots))


def test_another_editions_unique_piece_shows_its_art(other_edition: Edition) -> None:
    drawn = draw("{% card edition 'first-folio' %}", edition=other_edition)
    assert drawn.symbols == ["card-unique", "art-manuscript"]
    assert drawn.names == ["Unique manuscript: 3 points"]


# Markets


def test_every_board_has_a_stall_of_its_own() -> None:
    drawn = [draw("{% stall face %}", face=f"{board}A").symbols for board in BOARDS]
    assert len({tuple(symbols) for symbols in drawn}) == len(BOARDS)


@pytest.mark.parametrize("face", load_edition().market)
def test_every_market_face_shows_its_price_and_its_slots(face: str) -> None:
    market = load_edition().market[face]
    drawn = draw("{% market_face edition face %}", face=face)
    assert sum(symbol.startswith("loot-") for symbol in drawn.symbols) == sum(number for _, number in market.cost)
    assert drawn.symbols.count("slot-silver") == market.art
    assert drawn.symbols.count("card-back") == sum(market.cards)
    assert drawn.names[0].startswith(f"Market {face}: costs 1 × ")


def test_another_editions_market_face_is_laid_out(other_edition: Edition) -> None:
    drawn = draw("{% market_face edition '1A' %}{% market_face edition '1B' %}", edition=other_edition)
    assert drawn.symbols.count("loot-gold") == 2
    assert drawn.symbols.count("slot-silver") == 9


@pytest.mark.parametrize("number", [0, 1, 4, 9, 60])
def test_things_are_placed_apart_and_within_their_space(number: int) -> None:
    boxes = [where for _, where in placed(range(number), 10, 20, 96, 30)]
    assert len(set(boxes)) == number
    assert all(x >= 10 and y >= 20 and x + w <= 106 and y + h <= 50 for x, y, w, h in boxes)


# Fragments


def fragment(template: str, state: State, seat: int, **context: Any) -> Drawn:
    sight = rules.sight(state, seat)
    drawn = Drawn(render_to_string(f"games/{template}", {**sight, "edition": state.terms.edition, **context}))
    assert set(drawn.symbols) <= SYMBOLS
    return drawn


def test_a_market_in_play_shows_what_it_still_sells(exchange: State) -> None:
    sight: Any = rules.sight(exchange, None)
    for number, offer in enumerate(exchange.offers):
        market = sight["markets"][number]
        for pay in ((), (3, 7)):
            drawn = fragment("_market.html", exchange, 0, market=market, number=number, pay=pay)
            assert {f"art-{kind}" for kind in offer.art if kind} <= set(drawn.symbols)
            assert len(drawn.texts) >= sum(map(len, offer.cards))


def test_wares_can_be_chosen_only_where_they_are_for_sale(exchange: State) -> None:
    offer = {"face": "4A", "art": ["watch", None, None, "chalice"], "cards": [["grail"], [], ["tiara", "watch-2"]]}
    html = render_to_string(
        "games/_market.html", {"market": offer, "number": 2, "edition": load_edition(), "pay": (3, 7)}
    )
    wares = [json.loads(unescape(value)) for value in re.findall(r'name="command" value="([^"]+)"', html)]
    bought = {"do": "buy", "market": 2, "pay": [3, 7]}
    assert wares == [bought | {"art": 0}, bought | {"art": 3}, bought | {"cards": 0}, bought | {"cards": 2}]
    assert html.count("Sold") == 3
    assert 'type="radio"' not in render_to_string(
        "games/_market.html", {"market": offer, "number": 2, "edition": load_edition()}
    )


def test_an_identity_board_always_has_six_slots(exchange: State) -> None:
    sight: Any = rules.sight(exchange, 0)
    for player in sight["players"]:
        html = render_to_string(
            "games/_identity.html",
            {"player": player, "name": "Alice", "tiles": sight["tiles"], "edition": exchange.terms.edition},
        )
        assert html.count('class="slot"') == SLOTS
        assert html.count("Free slot") == SLOTS - len(player["board"])


def test_cards_that_lie_face_down_are_shown_to_their_owner_only(exchange: State) -> None:
    player = {"collections": [{"card": "watch-2", "filled": 1}], "face_down": 2}
    others = fragment("_cards.html", exchange, 0, player=player)
    assert others.symbols.count("card-back") == 1
    assert "unique-grail" not in others.symbols
    own = fragment("_cards.html", exchange, 0, player=player | {"hidden": ["grail", "chalice-1"]})
    assert "card-back" not in own.symbols
    assert {"unique-grail", "art-chalice"} <= set(own.symbols)


@pytest.mark.parametrize(
    ("tile", "symbols"),
    [
        ({"place": "garage", "lies": "down"}, ["tile-garage"]),
        ({"place": "office", "lies": "hand"}, ["tile-office"]),
        ({"place": "safe", "lies": "up", "loot": "gold"}, ["tile-safe", "back-safe", "loot-gold"]),
    ],
)
def test_a_tile_shows_no_more_than_its_sight_has(tile: dict[str, str], symbols: list[str], exchange: State) -> None:
    assert fragment("_tile.html", exchange, 0, tile=tile).symbols == symbols


def test_points_are_told_in_the_order_of_the_rules() -> None:
    points = {"silver": 1, "gold": 4, "uniques": 3, "collections": 29, "total": 37}
    html = render_to_string("games/_points.html", {"points": points})
    assert re.findall(r"<dd>(\d+)</dd>", html) == ["1", "4", "3", "29", "37"]
    assert list(names.SCORE) == list(points)


def test_a_taken_escape_token_shows_by_whom() -> None:
    players = [{"token": None, "character": "violet"}, {"token": 1, "character": "amber"}]
    drawn = Drawn(render_to_string("games/_tokens.html", {"players": players}))
    assert drawn.symbols == ["token", "token-1", "character-amber", "token", "token-2"]


def test_the_piles_say_how_much_is_left() -> None:
    html = render_to_string("games/_piles.html", {"bag": 1, "deck": 12})
    assert "1 token in the bag" in html
    assert "12 cards in the deck" in html


def test_no_two_things_of_a_kind_share_a_name() -> None:
    for words in (
        names.PLACES,
        names.LOOT,
        names.ART,
        names.CHARACTERS,
        names.STRENGTHS,
        names.RULEBOOKS,
        names.UNIQUES,
    ):
        assert len({str(word) for word in words.values()}) == len(words)
