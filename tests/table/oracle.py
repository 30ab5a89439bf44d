"""Who may know what (R6.7), written a second time: from the raw log, without the rules' own sight.

The world is closed: a message with a member that is not listed here fails, whatever it holds, and so does a word where
only numbers belong, or a sentence that is none of those that a page may be told.
"""

import copy
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from games.rules import Terms
from games.rules.chance import NO_NONCE
from games.rules.fairness import share_of
from games.sentences import SENTENCES
from tests.table.page import Message

ENVELOPES = {
    "welcome": "you at head commitment rulebook pace ranked markets_by markets limits edition seats",
    "share": "share",
    "shares": "shares counts line",
    "sight": "head sight",
    "events": "head events sight now ack",
    "ack": "id seq",
    "refused": "id code text head",
    "nonce": "nonce",
    "beat": "at head mark",
    "notice": "code text",
}
SITTER = "seat name kind character program"
PHASES = {"gathering", "countdown", "search", "exchange", "over"}
MOMENT = "phase limit resumes_at order tour turn traded short"
FIXED = "seat rulebook pace ranked limits edition commitment"
SIGHT = f"seq at {FIXED} round tiles players markets bag deck leavers {MOMENT}"
PLAYER = "seat kind character ready hand lifted_at board let_go token art collections face_down left"
OWN = "hidden points readies"
# Where no word belongs, so that none can tell a secret.
NUMBERS = set("seq at head limit resumes_at order tour turn traded short round bag deck leavers".split())
NUMBERS |= set("seat ready hand lifted_at board let_go token face_down left points readies".split())
EVENTS = {
    "round_started": "round places markets bag deck",
    "ready": "seat on",
    "countdown_started": "",
    "search_started": "",
    "lifted": "seat tile loot",
    "stashed": "seat tile loot",
    "returned": "seat tile face source by loot",
    "escaped": "seat token by",
    "exchange_started": "order",
    "bought": "seat market art cards paid loot got",
    "bag_opened": "seat tile got",
    "placed": "seat art card worth",
    "passed": "seat by",
    "abandoned": "seat by",
    "resumed": "lost_ms stalled",
    "game_ended": "reason by reveal",
}


class Truth:
    """Everything, secrets included, after one event."""

    def __init__(self, cards: dict[str, Message], players: int) -> None:
        self.cards = cards
        self.over = False
        self.loot: list[str] = []
        self.lies: list[str] = []
        self.hands: list[int | None] = [None] * players
        self.open: list[dict[str, int]] = [{} for _ in range(players)]
        self.hidden: list[list[str]] = [[] for _ in range(players)]
        self.art: list[list[str]] = [[] for _ in range(players)]
        self.markets: list[Message] = []

    def after(self, event: Message) -> "Truth":
        truth = copy.copy(self)
        truth.lies, truth.hands = [*self.lies], [*self.hands]
        truth.open, truth.hidden = copy.deepcopy(self.open), copy.deepcopy(self.hidden)
        truth.art, truth.markets = copy.deepcopy(self.art), copy.deepcopy(self.markets)
        truth._happen(event, event.get("seat", 0))
        return truth

    def _happen(self, event: Message, seat: int) -> None:
        match event["type"]:
            case "round_started":
                self.loot = [loot for _, loot in event["tiles"]]
                self.lies = ["down"] * 54
                self.hands = [None] * len(self.hands)
                self.markets = copy.deepcopy(event["markets"])
            case "lifted":
                self.hands[seat] = event["tile"]
                self.lies[event["tile"]] = "hand"
            case "stashed":
                self.hands[seat] = None
                self.lies[event["tile"]] = "board"
            case "returned":
                self.lies[event["tile"]] = event["face"]
                if event["source"] == "hand":
                    self.hands[seat] = None
            case "bought":
                for tile in event["paid"]:
                    self.lies[tile] = "down"
                if "cards" in event:
                    self.markets[event["market"]]["cards"][event["cards"]] = []
                    for card in event["got"]:
                        self._take(seat, card)
                else:
                    self.markets[event["market"]]["art"][event["art"]] = None
                    self.art[seat] += event["got"]
            case "bag_opened":
                self.lies[event["tile"]] = "down"
                self.art[seat] += [event["got"]] if event["got"] else []
            case "placed":
                self.art[seat].remove(event["art"])
                self.open[seat][event["card"]] += 1
                if self.open[seat][event["card"]] == len(self.cards[event["card"]]["needs"]):
                    del self.open[seat][event["card"]]
                    self.hidden[seat].append(event["card"])
            case "game_ended":
                self.over = True

    def _take(self, seat: int, card: str) -> None:
        if self.cards[card]["kind"] == "unique":
            self.hidden[seat].append(card)
        else:
            self.open[seat][card] = 0

    def may_know(self, tile: int, seat: int | None) -> bool:
        in_own_hand = seat is not None and self.hands[seat] == tile
        return self.over or in_own_hand or self.lies[tile] in ("up", "board")


class Oracle:
    """Judges every message of one game by what was fixed before its start and by its raw log."""

    def __init__(self, terms: Terms, names: Sequence[str], log: list[Message]) -> None:
        self.terms = terms
        self.names = names
        self.log = {event["seq"]: event for event in log}
        edition = terms.edition.as_json()
        cards = {card["id"]: card for card in edition["cards"]}
        self.secret_words = {loot for event in log for _, loot in event.get("tiles", ())} | {*cards}
        self.secret_words |= {kind for kind, _ in edition["art"]}
        truth = Truth(cards, len(terms.seats))
        self.truths = {0: truth}
        for event in log:
            truth = self.truths[event["seq"]] = truth.after(event)

    def betrayals(self, frame: str, seat: int | None) -> Iterator[str]:
        """What this message tells this seat that it may not know, or tells it wrongly."""
        message = json.loads(frame)
        yield from self._unknown(message, "type " + ENVELOPES[message["type"]], message["type"])
        yield from self._words(message, message["type"])
        if "reveal" not in frame:
            yield from self._of_chance(frame, seat)
        match message["type"]:
            case "welcome":
                yield from self._of_welcome(message, seat)
            case "nonce":
                if seat is None or message["nonce"] != self.terms.seats[seat].nonce.hex():
                    yield "nonce: that of another seat"
            case "share":
                if seat is None or message["share"] not in (None, share_of(self.terms.seats[seat].nonce)):
                    yield "share: that of another seat"
            case "shares":
                yield from self._of_shares(message)
            case "refused" | "notice":
                yield from self._of_sentence(message)
        for name in message.keys() & {"id", "ack", "mark"}:
            yield from self._of_free_text(message[name], name)
        for event in message.get("events", ()):
            yield from self._of_event(event, seat)
        if "sight" in message:
            yield from self._of_sight(message["sight"], seat, self.truths[message["head"]])
        if "now" in message:
            yield from self._of_moment(message["now"], seat, self.truths[message["head"]])

    def _unknown(self, value: dict[str, Any], known: str, where: str) -> Iterator[str]:
        for name in value.keys() - set(known.split()):
            yield f"{where} has {name}"

    def _words(self, value: Message, where: str) -> Iterator[str]:
        for name in value.keys() & NUMBERS:
            if any(isinstance(leaf, str) for leaf in leaves(value[name])):
                yield f"{where}: words in {name}"

    def _of_free_text(self, text: str, where: str) -> Iterator[str]:
        """What a page chose itself, or chance: it has no word for anything on the board."""
        for word in self.secret_words & {*re.findall(r"[a-z0-9_-]+", text), *re.findall(r"[a-z_]+", text)}:
            yield f"{where} says {word}"

    def _of_chance(self, frame: str, seat: int | None) -> Iterator[str]:
        """As long as the game runs nobody knows the server's share of its chance, nor another player's."""
        if self.terms.server_seed.hex() in frame:
            yield "the seed"
        for number, sitter in enumerate(self.terms.seats):
            if number != seat and sitter.nonce != NO_NONCE and sitter.nonce.hex() in frame:
                yield f"the nonce of {number}"

    def _of_sentence(self, message: Message) -> Iterator[str]:
        template = str(SENTENCES[message["code"]])
        values = re.fullmatch(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.*)", re.escape(template)), message["text"], re.DOTALL)
        if values is None:
            yield f"{message['code']}: another sentence"
        else:
            for value in values.groups():
                yield from self._of_free_text(value, message["code"])

    def _of_welcome(self, message: Message, seat: int | None) -> Iterator[str]:
        yield from self._of_terms(message, "welcome")
        if message["you"] != seat:
            yield f"welcome of seat {message['you']}"
        if message["edition"] != self.terms.edition.as_json():
            yield "welcome tells another edition"
        for number, (sitter, name) in enumerate(zip(self.terms.seats, self.names, strict=True)):
            said = message["seats"][number]
            yield from self._unknown(said, SITTER, f"welcome, seat {number}")
            if [said[one] for one in SITTER.split()[:4]] != [number, name, sitter.kind, sitter.character]:
                yield f"welcome tells of somebody else at {number}"
            if not isinstance(said["program"], bool):
                yield f"welcome tells of a program at {number}"

    def _of_shares(self, message: Message) -> Iterator[str]:
        """Hashes alone: of what each seat gave, and of what was agreed on."""
        yield from self._unknown(message["line"], "number day digest head", "the line of the list")
        for number, (sitter, share) in enumerate(zip(self.terms.seats, message["shares"], strict=True)):
            if share not in (None, share_of(sitter.nonce)):
                yield f"shares: another one of seat {number}"

    def _of_terms(self, value: Message, where: str) -> Iterator[str]:
        terms = self.terms
        fixed = {"commitment": terms.commitment, "rulebook": terms.rulebook, "pace": terms.pace}
        for name, said in (fixed | {"ranked": terms.ranked, "limits": terms.limits.as_json()}).items():
            if value[name] != said:
                yield f"{where} tells another {name}"

    def _of_event(self, event: Message, seat: int | None) -> Iterator[str]:
        truth, raw = self.truths[event["seq"]], self.log[event["seq"]]
        where = f"event {event['seq']} ({event['type']})"
        yield from self._unknown(event, "seq at type " + EVENTS[event["type"]], where)
        for name in event.keys() & raw.keys() - {"markets"}:
            if event[name] != raw[name]:
                yield f"{where} tells another {name}"
        if "loot" in event:
            tiles = event.get("paid", [event.get("tile")])
            told = event["loot"] if "paid" in event else [event["loot"]]
            if told != [truth.loot[tile] for tile in tiles]:
                yield f"{where} tells wrong loot"
            # What is paid was on a board a moment ago, where all saw it.
            if "paid" not in event and not truth.may_know(event["tile"], seat):
                yield f"{where} tells the loot of {event['tile']}"
        if event["type"] == "round_started":
            yield from self._of_markets(event["markets"], truth, where)
        if event["type"] == "game_ended" and "reveal" not in event:
            yield f"{where} reveals nothing"

    def _of_sight(self, sight: Message, seat: int | None, truth: Truth) -> Iterator[str]:
        where = f"sight at {sight['seq']}"
        yield from self._unknown(sight, SIGHT + (" reveal" if truth.over else ""), where)
        yield from self._words(sight, where)
        yield from self._of_terms(sight, where)
        yield from self._of_phase(sight, where)
        yield from self._of_markets(sight["markets"], truth, where)
        if sight["seat"] != seat:
            yield f"{where} is that of seat {sight['seat']}"
        if sight["edition"] != self.terms.edition.name:
            yield f"{where} tells another edition"
        for tile, seen in enumerate(sight["tiles"]):
            yield from self._unknown(seen, "place lies loot", f"{where}, tile {tile}")
            # A sight after the game keeps its tiles as they lay; `reveal` has the rest.
            if "loot" in seen and not truth.may_know(tile, seat):
                yield f"{where} tells the loot of {tile}"
            if seen.get("loot", truth.loot[tile]) != truth.loot[tile]:
                yield f"{where} tells wrong loot of {tile}"
            if "loot" not in seen and truth.may_know(tile, seat) and not truth.over:
                yield f"{where} does not tell the loot of {tile}"
        for number, player in enumerate(sight["players"]):
            own = number == seat
            yield from self._unknown(player, f"{PLAYER} {OWN}" if own else PLAYER, f"{where}, player {number}")
            yield from self._words(player, f"{where}, player {number}")
            sitter = self.terms.seats[number]
            if (player["kind"], player["character"]) != (sitter.kind, sitter.character):
                yield f"{where} tells of somebody else at {number}"
            if player["hand"] != truth.hands[number]:
                yield f"{where}: another tile in the hand of {number}"
            if player["art"] != truth.art[number]:
                yield f"{where}: other art of {number}"
            if {held["card"]: held["filled"] for held in player["collections"]} != truth.open[number]:
                yield f"{where}: other open collections of {number}"
            if player["face_down"] != len(truth.hidden[number]):
                yield f"{where}: another number of face-down cards of {number}"
            if own and sorted(player["hidden"]) != sorted(truth.hidden[number]):
                yield f"{where}: other hidden cards"

    def _of_moment(self, now: Message, seat: int | None, truth: Truth) -> Iterator[str]:
        yield from self._unknown(now, MOMENT if seat is None else f"{MOMENT} own", "now")
        yield from self._words(now, "now")
        yield from self._of_phase(now, "now")
        if seat is not None:
            yield from self._unknown(now["own"], OWN, "own")
            yield from self._words(now["own"], "own")
            if sorted(now["own"]["hidden"]) != sorted(truth.hidden[seat]):
                yield f"now: other hidden cards of {seat}"

    def _of_markets(self, markets: list[Message], truth: Truth, where: str) -> Iterator[str]:
        for number, market in enumerate(markets):
            yield from self._unknown(market, "face art cards", where)
            if market != truth.markets[number]:
                yield f"{where}: other things on offer at {number}"

    def _of_phase(self, value: Message, where: str) -> Iterator[str]:
        if value["phase"] not in PHASES:
            yield f"{where}: another phase"


def leaves(value: Any) -> Iterator[Any]:
    """All that is in a value and holds nothing itself."""
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from leaves(one)
    else:
        yield value
