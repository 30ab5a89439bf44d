"""The judge finds every way to bend a game that we could think of, with its rule and its event."""

import random
import re

import pytest

from games.rules.errors import CODES
from games.rules.events import (
    Bought,
    Placed,
    Ready,
    RoundStarted,
)
from games.rules.judge import Fault, judge
from games.rules.record import write_record
from games.rules.rulings import REFUSALS

from . import illegal_exchange, illegal_head, illegal_search
from .tampering import GAMES, Copy, Data, game

ILLEGAL = {**illegal_head.illegal, **illegal_search.illegal, **illegal_exchange.illegal}


@pytest.mark.parametrize("name", GAMES)
def test_a_game_by_the_rules_has_no_fault(name: str) -> None:
    assert judge(write_record(game(name).record())) == []


@pytest.mark.parametrize("name", ILLEGAL)
def test_an_illegal_change_is_found_with_its_rule_and_its_event(name: str) -> None:
    played, rule, change = ILLEGAL[name]
    copy = Copy(game(played))
    seq = change(copy)
    faults = copy.faults()
    assert faults, "nothing was found"
    assert (faults[0].rule, faults[0].seq) == (rule, seq), [str(fault) for fault in faults]


def test_at_least_thirty_illegal_changes_are_tried_of_many_rules() -> None:
    assert len(ILLEGAL) >= 30
    assert len({rule for _, rule, _ in ILLEGAL.values()}) >= 20


def test_the_judge_has_words_for_every_refusal() -> None:
    assert set(REFUSALS) == set(CODES)


def test_a_wrong_word_does_not_hide_the_next_one() -> None:
    copy = Copy(game("plain"))
    first = copy.change(lambda state, event: isinstance(event, Placed), worth=15)
    second = copy.change(lambda state, event: isinstance(event, RoundStarted) and event.round == 2, bag=60)
    copy.part("result", "ranking").reverse()  # type: ignore[attr-defined]
    found = [(fault.seq, fault.rule) for fault in copy.faults()]
    assert found == [*sorted([(first, "R6.3"), (second, "R7.1")]), (len(copy.events), "R7.4")]


def test_one_gap_in_the_numbers_is_one_fault() -> None:
    copy = Copy(game("plain"))
    for event in copy.events[100:]:
        event["seq"] = int(str(event["seq"])) + 7
    assert [(fault.seq, fault.rule) for fault in copy.faults()] == [(101, "R4.3")]


def test_a_wrong_time_is_said_once() -> None:
    copy = Copy(game("plain"))
    seq = copy.change(lambda state, event: isinstance(event, Ready), at=9_000)
    assert [(fault.seq, fault.rule) for fault in copy.faults()] == [(seq + 1, "R4.3")]


def test_what_is_paid_has_no_order() -> None:
    copy = Copy(game("owner"))
    index = copy.find(lambda state, event: isinstance(event, Bought) and len(event.paid) > 1)
    copy.events[index]["paid"].reverse()  # type: ignore[attr-defined]
    assert copy.faults() == []


@pytest.mark.parametrize("seed", range(60))
def test_events_in_any_disorder_get_an_answer(seed: int) -> None:
    rng = random.Random(seed)
    copy = Copy(game(rng.choice(("left", "forsaken", "crashed", "spanish"))))
    for _ in range(rng.randint(1, 4)):
        disturb(copy.events, rng)
    copy.renumber()
    for fault in copy.faults():
        assert re.fullmatch(r"seq \d+: (R\d\.\d+a?: )?[^\n]+", str(fault))


def disturb(log: list[Data], rng: random.Random) -> None:
    """One event is lost, or comes twice, or says something else."""
    index = rng.randrange(len(log))
    event, other = log[index], rng.choice(log)
    match rng.randrange(5):
        case 0:
            del log[index]
        case 1:
            log.insert(index, dict(event))
        case 2:
            log[index] = {**other, "at": event["at"]}
        case 3:
            event["type"] = other["type"]
        case _:
            event[rng.choice([*event])] = rng.choice((0, 1, 3, 9_999, "clock", "up"))


def test_a_fault_is_one_line() -> None:
    assert str(Fault(7, "R5.2", "this is not the price")) == "seq 7: R5.2: this is not the price"
    assert str(Fault(7, None, "no such type")) == "seq 7: no such type"
    assert str(Fault(None, None, "this is not JSON")) == "this is not JSON"
