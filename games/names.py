"""What things are called, in the rulebook's words and in every language of the site: the only place for these names.

A name stands alone and begins with a capital; whoever builds a sentence around one writes a sentence of its own.
"""

from collections.abc import Iterable

from django.utils.functional import Promise
from django.utils.translation import gettext as say
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext, pgettext_lazy

from games.bots.strengths import Strength
from games.rules.edition import Art, Card, Loot, Market, Place, Unique
from games.rules.scoring import worth
from games.rules.state import Held
from games.rules.terms import Character, Rulebook

Name = str | Promise

PLACES: dict[Place, Name] = {
    "garage": pgettext_lazy("place", "Garage"),
    "office": pgettext_lazy("place", "Office"),
    "safe": pgettext_lazy("place", "Safe"),
}
LOOT: dict[Loot, Name] = {
    "jewels": pgettext_lazy("loot", "Jewels"),
    "cash": pgettext_lazy("loot", "Banknotes"),
    "bag": pgettext_lazy("loot", "Leather bag"),
    "iron_key": pgettext_lazy("loot", "Iron key"),
    "brass_key": pgettext_lazy("loot", "Brass key"),
    "drawer": pgettext_lazy("loot", "Empty drawer"),
    "gems": pgettext_lazy("loot", "Gems"),
    "gold": pgettext_lazy("loot", "Gold bar"),
}
ART: dict[Art, Name] = {
    "manuscript": pgettext_lazy("art", "Manuscript"),
    "chalice": pgettext_lazy("art", "Chalice"),
    "statuette": pgettext_lazy("art", "Statuette"),
    "jewellery": pgettext_lazy("art", "Jewellery set"),
    "watch": pgettext_lazy("art", "Watch"),
    "painting": pgettext_lazy("art", "Painting"),
}
SCORE: dict[str, Name] = {
    "silver": pgettext_lazy("art", "Silver"),
    "gold": pgettext_lazy("art", "Gold"),
    "uniques": _("Unique pieces"),
    "collections": _("Collections"),
    "total": _("Total"),
}
BAG_OF_ART: Name = _("Bag of art")
CARD_FACE_DOWN: Name = _("Card, face down")
LOCKED: Name = _("Locked")
HAND: Name = _("Hand")
CHARACTERS: dict[Character, Name] = {
    "violet": _("Violet burglar"),
    "scarlet": _("Scarlet burglar"),
    "emerald": _("Emerald burglar"),
    "amber": _("Amber burglar"),
}
STRENGTHS: dict[Strength, Name] = {
    "apprentice": pgettext_lazy("strength of a bot", "Apprentice"),
    "burglar": pgettext_lazy("strength of a bot", "Burglar"),
    "master": pgettext_lazy("strength of a bot", "Master"),
}
RULEBOOKS: dict[Rulebook, Name] = {
    "fr": pgettext_lazy("rulebook", "French"),
    "it": pgettext_lazy("rulebook", "Italian"),
    "de": pgettext_lazy("rulebook", "German"),
    "es": pgettext_lazy("rulebook", "Spanish"),
    "pt": pgettext_lazy("rulebook", "Portuguese"),
}

# Cards: a collection is named by the art it asks for; a unique piece by its own name, or by its art where it has none.
COLLECTIONS: dict[Art, Name] = {
    "manuscript": _("Collection of manuscripts"),
    "chalice": _("Collection of chalices"),
    "statuette": _("Collection of statuettes"),
    "jewellery": _("Collection of jewellery"),
    "watch": _("Collection of watches"),
    "painting": _("Collection of paintings"),
}
SHOWCASE: Name = _("Showcase")
UNIQUES: dict[str, Name] = {
    "psalter": _("Illuminated psalter"),
    "grail": _("Grail"),
    "pharaoh": _("Statuette of a pharaoh"),
    "tiara": _("Tiara"),
    "chronometer": _("Chronometer"),
    "portrait": _("Portrait of a lady"),
}
UNIQUES_OF: dict[Art, Name] = {
    "manuscript": _("Unique manuscript"),
    "chalice": _("Unique chalice"),
    "statuette": _("Unique statuette"),
    "jewellery": _("Unique jewellery set"),
    "watch": _("Unique watch"),
    "painting": _("Unique painting"),
}


def of_card(card: Card) -> str:
    """What this card is called, whatever edition it is from."""
    if isinstance(card, Unique):
        return str(UNIQUES.get(card.id, UNIQUES_OF[card.of]))
    return str(COLLECTIONS[card.needs[0]] if len(set(card.needs)) == 1 else SHOWCASE)


def card_in_words(card: Card, filled: int = 0) -> str:
    """A card for who does not see it: its name, its worth now, and what its slots ask for and give."""
    said = {"card": of_card(card), "points": points(worth(Held(card, filled)))}
    if isinstance(card, Unique):
        return say("%(card)s: %(points)s") % said
    slots = [
        (say("%(art)s for %(worth)s, filled") if place < filled else say("%(art)s for %(worth)s"))
        % {"art": ART[kind], "worth": number}
        for place, (kind, number) in enumerate(zip(card.needs, card.worth, strict=True))
    ]
    return say("%(card)s: %(points)s now. Slots from the lowest: %(slots)s") % (said | {"slots": "; ".join(slots)})


def of_market(face: str) -> str:
    """What a market board is called by the face it shows, such as 4A."""
    return say("Market %(face)s") % {"face": face}


def market_in_words(market: Market) -> str:
    """A market face for who does not see it."""
    return say("%(market)s: costs %(price)s; slots for art: %(art)s; for cards: %(cards)s") % {
        "market": of_market(market.face),
        "price": price(market.cost),
        "art": market.art,
        "cards": " + ".join(map(str, market.cards)) or "0",
    }


def of_token(number: int) -> str:
    return say("Escape token %(number)s") % {"number": number}


def of_tile(place: Place, loot: Loot | None = None) -> str:
    """A tile as whoever may know its loot calls it, or as everybody else does."""
    if loot is None:
        return say("%(place)s tile, face down") % {"place": PLACES[place]}
    return say("%(loot)s, %(place)s tile") % {"loot": LOOT[loot], "place": PLACES[place]}


def price(cost: Iterable[tuple[Loot, int]]) -> str:
    """What a market asks for, such as “1 × Gold bar, 1 × Banknotes”."""
    return ", ".join(f"{number} × {LOOT[loot]}" for loot, number in cost)


def points(number: int) -> str:
    return ngettext("%(number)s point", "%(number)s points", number) % {"number": number}
