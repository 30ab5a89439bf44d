"""Whole games in any order of things, and what is always true in them."""

import random
from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from games import rules
from games.rules import commands
from games.rules.commands import Buy, Command, Escape, Leave, Lift, OpenBag, Pass, Place, Ready, Return, Stash
from games.rules.edition import ART, TILES, Collection
from games.rules.errors import Refused
from games.rules.events import Event
from games.rules.state import State
from games.rules.terms import PACES, PLAYERS, RULEBOOKS, Pace, Rulebook
from tests.rules.random_play import choose, terms_for
from tests.rules.referee import Referee

SEEDS = st.integers(0, 2**32)
SEATS = st.integers(0, 3)


def everything(state: State, seat: int) -> Iterator[Command]:
    """Every command that can be written down, but of prices only those of this seat's tiles and one other."""
    yield from (Ready(True), Ready(False), Escape(), Pass(), Leave())
    for tile in range(len(TILES)):
        yield from (Lift(tile), Stash(tile), Return(tile, "down"), Return(tile, "up"), OpenBag(tile))
    for kind in ART:
        for card in (*state.terms.edition.card, "mona-lisa"):
            yield Place(kind, card)
    board = state.players[seat].board
    tiles = (*board, next(tile for tile in range(len(TILES)) if tile not in board))
    for number in (1, 2, 3):
        for pay in combinations(tiles, number):
            for market in range(len(state.offers) + 1):
                for slot in range(6):
                    yield Buy(market, pay, art=slot)
                    yield Buy(market, pay, cards=slot)


def counts(state: State, seat: int, command: Command, at: int) -> bool:
    try:
        return bool(rules.decide(state, seat, command, at))
    except Refused:
        return False


class WholeGame(RuleBasedStateMachine):
    @initialize(
        seed=SEEDS, players=st.sampled_from(PLAYERS), rulebook=st.sampled_from(RULEBOOKS), pace=st.sampled_from(PACES)
    )
    def lay_out(self, seed: int, players: int, rulebook: Rulebook, pace: Pace) -> None:
        self.terms = terms_for(seed, rulebook, players, pace)
        self.referee = Referee(self.terms)
        self.state = rules.blank(self.terms)
        self.log: list[Event] = []
        self.at = 0
        self.happen(rules.setup(self.terms))

    def happen(self, happened: tuple[Event, ...]) -> None:
        for event in happened:
            self.referee.watch(event)
            self.state = rules.apply(self.state, event)
            self.log.append(event)

    def running(self) -> bool:
        return self.state.phase != "over"

    def someone(self, seat: int) -> int:
        staying = self.state.staying()
        return staying[seat % len(staying)]

    @precondition(running)
    @rule(seed=SEEDS, steps=st.integers(1, 80))
    def much_happens(self, seed: int, steps: int) -> None:
        rng = random.Random(seed)
        for _ in range(steps):
            self.at += rng.randint(0, 400)
            self.happen(rules.tick(self.state, self.at))
            if self.running():
                seat = rng.choice(self.state.staying())
                wanted = choose(rules.legal(self.state, seat, self.at), rng)
                if wanted is not None:
                    self.happen(rules.decide(self.state, seat, wanted, self.at))

    @precondition(running)
    @rule(seat=SEATS, which=SEEDS)
    def somebody_does_something(self, seat: int, which: int) -> None:
        seat = self.someone(seat)
        legal = [one for one in rules.legal(self.state, seat, self.at) if not isinstance(one, Leave)]
        if legal:
            self.happen(rules.decide(self.state, seat, legal[which % len(legal)], self.at))

    @precondition(running)
    @rule(ms=st.integers(0, 15_000))
    def time_goes_on(self, ms: int) -> None:
        self.at += ms
        self.happen(rules.tick(self.state, self.at))

    @precondition(running)
    @rule(late=st.integers(0, 300))
    def the_clock_is_waited_for(self, late: int) -> None:
        due = rules.wake_at(self.state)
        assert due is not None
        self.at = max(self.at, due) + late
        self.happen(rules.tick(self.state, self.at))

    @precondition(running)
    @rule(lost=st.integers(2_001, 60_000), ago=st.integers(0, 3_000))
    def a_server_crashes(self, lost: int, ago: int) -> None:
        self.at += lost + ago
        self.happen(rules.resume(self.state, lost, self.at))
        self.happen(rules.tick(self.state, self.at))

    @precondition(lambda self: len(self.state.staying()) > 2)
    @rule(seat=SEATS, staff=st.booleans())
    def somebody_leaves(self, seat: int, staff: bool) -> None:
        if not self.running():
            return
        seat = self.someone(seat)
        if staff:
            self.happen(rules.remove(self.state, seat, self.at))
        else:
            self.happen(rules.decide(self.state, seat, Leave(), self.at))

    @rule(seat=SEATS, ahead=st.sampled_from([0, 0, 0, 400, 500, 10_000, 10**9]))
    def legal_and_decide_agree(self, seat: int, ahead: int) -> None:
        """On every command that can be written down, now and later; and whatever they say, nothing changes."""
        seat %= len(self.state.players)
        before = hash(self.state)
        legal = rules.legal(self.state, seat, self.at + ahead)
        written = list(everything(self.state, seat))
        assert len(set(legal)) == len(legal)
        assert set(legal) <= set(written)
        assert set(legal) == {one for one in written if counts(self.state, seat, one, self.at + ahead)}
        for command in legal:
            assert commands.read(commands.write(command)) == command
        assert hash(self.state) == before

    @rule()
    def the_state_is_the_replay_of_its_events(self) -> None:
        assert rules.replay(self.terms, self.log) == self.state

    @invariant()
    def the_clock_has_nothing_left_to_do(self) -> None:
        assert rules.tick(self.state, self.at) == ()

    @invariant()
    def every_tile_is_in_one_place(self) -> None:
        state = self.state
        assert Counter(state.tiles) == Counter(TILES)
        assert Counter(state.lies)["hand"] == sum(player.hand is not None for player in state.players)
        for player in state.players:
            assert player.hand is None or state.lies[player.hand] == "hand"
            assert all(state.lies[tile] == "board" for tile in player.board)
        boards = [tile for player in state.players for tile in player.board]
        hands = [player.hand for player in state.players if player.hand is not None]
        assert len(set(boards + hands)) == len(boards + hands)
        assert Counter(state.lies)["board"] == len(boards)

    @invariant()
    def a_board_holds_six_tiles_and_one_key_of_a_kind_at_most(self) -> None:
        for player in self.state.players:
            loot = Counter(self.state.tiles[tile].loot for tile in player.board)
            assert loot.total() <= 6
            assert loot["iron_key"] <= 1
            assert loot["brass_key"] <= 1
            assert len(player.stashed_at) == len(player.board)
            assert list(player.stashed_at) == sorted(player.stashed_at)

    @invariant()
    def nothing_is_held_that_no_key_opened(self) -> None:
        for player in self.state.players:
            loot = {self.state.tiles[tile].loot for tile in player.board}
            if player.hand is not None and self.state.phase == "search":
                place = self.state.tiles[player.hand].place
                assert {"garage": True, "office": "iron_key" in loot, "safe": "brass_key" in loot}[place]

    @invariant()
    def every_token_of_art_is_in_one_place(self) -> None:
        there = Counter(self.state.bag)
        for offer in self.state.offers:
            there.update(kind for kind in offer.art if kind is not None)
        for player in self.state.players:
            there.update(player.art)
            for held in player.cards:
                if isinstance(held.card, Collection):
                    there.update(held.card.needs[: held.filled])
        assert there == Counter(self.terms.edition.art_tokens)

    @invariant()
    def every_card_is_in_one_place(self) -> None:
        there = Counter(self.state.deck)
        for offer in self.state.offers:
            there.update(card for slot in offer.cards for card in slot)
        for player in self.state.players:
            there.update(held.card.id for held in player.cards)
        assert there == Counter(self.terms.edition.card.keys())

    @invariant()
    def points_are_what_a_second_count_says(self) -> None:
        for seat, player in enumerate(self.state.players):
            assert rules.score(seat, player).total == self.referee.points(seat)

    def teardown(self) -> None:
        if hasattr(self, "log"):
            result = rules.result(self.state)
            assert (result is None) == self.running()
            if result is not None:
                assert result.ranking == self.referee.ranking()


TestWholeGame = WholeGame.TestCase
