"""A page under test: it has one sight, applies the sights of events to it, and knows what the edition says.

This is all that a browser or a bot has to do to stay right without asking again.
"""

from typing import Any

from games.rules.edition import SILVER, Collection, Edition

Sight = dict[str, Any]


class Page:
    def __init__(self, edition: Edition, sight: Sight) -> None:
        self.edition = edition
        self.sight = sight

    @property
    def own(self) -> Sight | None:
        seat = self.sight["seat"]
        return None if seat is None else self.sight["players"][seat]

    def hear(self, event: Sight) -> None:
        getattr(self, event["type"])(event)
        self.sight["seq"], self.sight["at"] = event["seq"], event["at"]

    def player(self, event: Sight) -> Sight:
        player: Sight = self.sight["players"][event["seat"]]
        return player

    def lie(self, event: Sight, lies: str) -> None:
        tile = self.sight["tiles"][event["tile"]]
        tile["lies"] = lies
        tile.pop("loot", None)
        if "loot" in event:
            tile["loot"] = event["loot"]

    def round_started(self, event: Sight) -> None:
        self.sight |= {
            "phase": "gathering",
            "round": event["round"],
            "limit": event["at"] + self.sight["limits"]["ready_ms"],
            "tiles": [{"place": place, "lies": "down"} for place in event["places"]],
            "markets": event["markets"],
            "bag": event["bag"],
            "deck": event["deck"],
            "turn": None,
        }
        for player in self.sight["players"]:
            player |= {"ready": False, "hand": None, "lifted_at": None, "board": [], "let_go": [], "token": None}

        if self.own is not None:
            self.own["readies"] = self.sight["limits"].get("readies")

    def ready(self, event: Sight) -> None:
        player = self.player(event)
        player["ready"] = event["on"]
        if event["on"] and player is self.own and player["readies"] is not None:
            player["readies"] -= 1

    def countdown_started(self, event: Sight) -> None:
        self.sight |= {"phase": "countdown", "limit": event["at"] + self.sight["limits"]["countdown_ms"]}

    def search_started(self, event: Sight) -> None:
        self.sight |= {"phase": "search", "limit": event["at"] + self.sight["limits"]["search_ms"]}

    def lifted(self, event: Sight) -> None:
        self.player(event).update(hand=event["tile"], lifted_at=event["at"])
        self.lie(event, "hand")

    def empty_hand(self, event: Sight) -> None:
        self.player(event).update(hand=None, lifted_at=None)

    def stashed(self, event: Sight) -> None:
        self.empty_hand(event)
        self.player(event)["board"].append(event["tile"])
        self.lie(event, "board")

    def returned(self, event: Sight) -> None:
        if event["source"] == "board":
            self.player(event)["board"].remove(event["tile"])
        else:
            self.empty_hand(event)
        if event["by"] == "clock":
            self.player(event)["let_go"] = sorted([*self.player(event)["let_go"], event["tile"]])
        self.lie(event, event["face"])

    def escaped(self, event: Sight) -> None:
        self.player(event)["token"] = event["token"]

    def exchange_started(self, event: Sight) -> None:
        self.sight |= {"phase": "exchange", "order": event["order"], "tour": 1, "turn": event["order"][0]}
        self.sight |= {"limit": event["at"] + self.sight["limits"]["turn_ms"], "resumes_at": 0}
        self.sight |= {"traded": False, "short": False}

    def next_turn(self, event: Sight, traded: bool) -> None:
        order = self.sight["order"]
        self.sight["traded"] |= traded
        self.sight["limit"] = event["at"] + self.sight["limits"]["turn_ms"]
        place = order.index(event["seat"]) + 1
        if place < len(order):
            self.sight["turn"] = order[place]
        elif self.sight["traded"]:
            self.sight |= {"traded": False, "turn": order[0], "tour": self.sight["tour"] + 1}
        else:
            self.sight["turn"] = None

    def bought(self, event: Sight) -> None:
        market = self.sight["markets"][event["market"]]
        player = self.player(event)
        for tile in event["paid"]:
            player["board"].remove(tile)
            self.lie({"tile": tile}, "down")
        if "art" in event:
            market["art"][event["art"]] = None
            player["art"] += event["got"]
        else:
            market["cards"][event["cards"]] = []
            for card in event["got"]:
                self.gain(event["seat"], card)
        self.count()
        self.next_turn(event, traded=True)

    def gain(self, seat: int, card: str) -> None:
        player = self.sight["players"][seat]
        if isinstance(self.edition.card[card], Collection):
            player["collections"].append({"card": card, "filled": 0})
            return
        self.turn_down(seat, card)

    def turn_down(self, seat: int, card: str) -> None:
        """From now on only its owner knows this card, though everybody saw it."""
        player = self.sight["players"][seat]
        player["face_down"] += 1
        if player is self.own:
            player["hidden"] = sorted([*player["hidden"], card])

    def bag_opened(self, event: Sight) -> None:
        player = self.player(event)
        player["board"].remove(event["tile"])
        self.lie({"tile": event["tile"]}, "down")
        if event["got"] is None:
            self.sight["short"] = True
        else:
            player["art"].append(event["got"])
            self.sight["bag"] -= 1
        self.count()
        self.next_turn(event, traded=True)

    def placed(self, event: Sight) -> None:
        player = self.player(event)
        player["art"].remove(event["art"])
        card = next(one for one in player["collections"] if one["card"] == event["card"])
        card["filled"] += 1
        of = self.edition.card[event["card"]]
        if isinstance(of, Collection) and card["filled"] == len(of.needs):
            player["collections"].remove(card)
            self.turn_down(event["seat"], event["card"])
        self.count()

    def passed(self, event: Sight) -> None:
        self.next_turn(event, traded=False)

    def abandoned(self, event: Sight) -> None:
        self.player(event)["left"] = True
        self.sight["leavers"].append(event["seat"])

    def resumed(self, event: Sight) -> None:
        countdown = self.sight["limits"]["countdown_ms"]
        if self.sight["phase"] == "countdown":
            self.sight["limit"] = event["at"] + countdown
        elif self.sight["phase"] == "search":
            by = event["lost_ms"] + countdown
            self.sight |= {"limit": self.sight["limit"] + by, "resumes_at": event["at"] + countdown}
            for player in self.sight["players"]:
                if player["hand"] is not None:
                    player["lifted_at"] += by
        else:
            self.sight["limit"] += event["lost_ms"]

    def game_ended(self, event: Sight) -> None:
        self.sight |= {"phase": "over", "turn": None, "reveal": event["reveal"]}

    def count(self) -> None:
        """One's own points, from what lies before one."""
        own = self.own
        if own is None:
            return
        silver = sum(kind in SILVER for kind in own["art"])
        done = [card for card in own["hidden"] if isinstance(self.edition.card[card], Collection)]
        points = {
            "seat": own["seat"],
            "silver": silver,
            "gold": 2 * (len(own["art"]) - silver),
            "uniques": 3 * (len(own["hidden"]) - len(done)),
            "collections": sum(self.worth(card, 99) for card in done)
            + sum(self.worth(one["card"], one["filled"]) for one in own["collections"]),
        }
        own["points"] = points | {"total": sum(points.values()) - own["seat"]}

    def worth(self, card: str, filled: int) -> int:
        of = self.edition.card[card]
        assert isinstance(of, Collection)
        return (2, *of.worth)[min(filled, len(of.worth))]
