"""What the rules cost on one core: commands, whole games of bots, loading a log, sights."""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from statistics import median
from time import process_time

from games import rules
from games.bots.selfplay import SelfPlay, seated, terms_for_bots
from games.management.arguments import positive
from games.rules import events

from .aims import Aim

HELP = "the rules by themselves, in CPU time of one core: commands, whole games of bots, loading a log, sights"
AIMS = {
    "commands_per_second": Aim("decided and applied commands a second", least=50_000),
    "games_per_second": Aim("whole games of four Apprentices a second", least=30),
    "load_ms": Aim("loading a log of 1,000 events, in ms", most=20),
    "sight_us": Aim("the sight of a whole table, in µs", most=100),
}

PLAYERS = 4
_LOADED = 1_000  # events
_REPEATS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--games", type=positive, default=20, help="whole games that are played and measured (20)")


def run(options: Mapping[str, object]) -> dict[str, float]:
    number = options["games"]
    assert isinstance(number, int)
    start = process_time()
    played = [_play(f"bench {game}") for game in range(number)]
    games_per_second = len(played) / (process_time() - start)
    return {
        "commands_per_second": round(median(_commands_per_second(game) for game in played)),
        "games_per_second": round(games_per_second, 1),
        "load_ms": round(median(_load_ms(game) for game in played), 2),
        "sight_us": round(median(_sight_us(game) for game in played), 1),
    }


def _play(seed: str) -> SelfPlay:
    terms = terms_for_bots("fr", PLAYERS, sha256(seed.encode()).digest())
    game = SelfPlay(terms, seated(terms, ["apprentice"] * PLAYERS, seed))
    game.play()
    return game


def _commands_per_second(game: SelfPlay) -> float:
    """The whole game once more, command by command, as a server plays it: the clock first, then the command."""

    def play_again() -> None:
        state = rules.replay(game.terms, game.log[:1])
        for seat, command, at in game.played:
            while (due := rules.wake_at(state)) is not None and due <= at:
                for event in rules.tick(state, due):
                    state = rules.apply(state, event)
            for event in rules.decide(state, seat, command, at):
                state = rules.apply(state, event)

    return len(game.played) / _seconds(play_again)


def _load_ms(game: SelfPlay) -> float:
    """From the log's JSON to the state after it, as a process takes over a game."""
    rows = [json.dumps(events.write(event)) for event in game.log]

    def load() -> None:
        rules.replay(game.terms, (events.read(json.loads(row)) for row in rows))

    return _seconds(load) * 1_000 * _LOADED / len(rows)


def _sight_us(game: SelfPlay) -> float:
    """A sight of each seat and of a spectator, of tables all through the game."""
    states = list(_every(25, _states(game)))

    def look() -> None:
        for state in states:
            for seat in (None, *range(PLAYERS)):
                rules.sight(state, seat)

    return _seconds(look) * 1_000_000 / len(states) / (PLAYERS + 1)


def _states(game: SelfPlay) -> Iterable[rules.State]:
    state = rules.blank(game.terms)
    for event in game.log[:-1]:
        state = rules.apply(state, event)
        yield state


def _every(step: int, states: Iterable[rules.State]) -> Iterable[rules.State]:
    return (state for number, state in enumerate(states) if number % step == 0)


def _seconds(work: Callable[[], None]) -> float:
    """The least CPU time of this work in several turns: what others do on the machine shall not count."""
    spent = []
    for _ in range(_REPEATS):
        start = process_time()
        work()
        spent.append(process_time() - start)
    return min(spent)
