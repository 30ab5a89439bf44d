"""What happened, in words: one sentence for each event that a page's log tells, as its reader may see it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as say

from games import names
from games.rules.edition import Edition

Seen = Mapping[str, Any]


def tell(events: Iterable[Seen], who: Sequence[str], edition: Edition) -> list[str]:
    """The events of a round in sentences, the latest first; the search is told by its escapes alone."""
    told = [sentence for event in events if (sentence := _sentence(event, who, edition))]
    return told[::-1]


def _sentence(event: Seen, who: Sequence[str], edition: Edition) -> str:
    said = {"name": who[event["seat"]]} if "seat" in event else {}
    match event["type"]:
        case "escaped":
            return say("%(name)s takes escape token %(number)s.") % {**said, "number": event["token"]}
        case "exchange_started":
            return say("The exchange begins.")
        case "bought":
            said |= {"paid": _counted(event["loot"]), "got": _goods(event, edition)}
            return say("%(name)s pays %(paid)s and takes: %(got)s.") % said
        case "bag_opened" if event["got"]:
            return say("%(name)s opens a leather bag and finds: %(art)s.") % {**said, "art": names.ART[event["got"]]}
        case "bag_opened":
            return say("%(name)s opens a leather bag, and the bag of art is empty.") % said
        case "placed":
            said |= {"art": str(names.ART[event["art"]]), "card": names.of_card(edition.card[event["card"]])}
            return say("%(name)s places art (%(art)s): %(card)s, now %(points)s.") % {
                **said,
                "points": names.points(event["worth"]),
            }
        case "passed":
            return _PASSES[event["by"]]() % said
        case "abandoned":
            return say("%(name)s leaves the game.") % said
    return ""


_PASSES = {
    "player": lambda: say("%(name)s passes."),
    "auto": lambda: say("%(name)s has nothing left to trade."),
    "clock": lambda: say("%(name)s ran out of time and passes."),
    "abandoned": lambda: say("%(name)s has left, and passes."),
}


def _goods(event: Seen, edition: Edition) -> str:
    if "art" in event:
        return str(names.ART[event["got"][0]])
    return ", ".join(names.of_card(edition.card[card]) for card in event["got"])


def _counted(loot: Sequence[Any]) -> str:
    return names.price(Counter(loot).items())
