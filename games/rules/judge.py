"""Judges a record: plays it again from its bare events and says every fault with the rule that it breaks.

A record has no commands, so each event that a player caused is turned back into the command it answers, and each event
of the clock into the clock's turn; the rules say what must happen then, and the record must say the same.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace

from . import commands, events, play, rounds
from .chance import NO_NONCE
from .clock import LEAST_LOST_MS, wake_at
from .edition import EditionError, load_edition
from .errors import Refused
from .events import Event
from .fairness import Line, digest, is_withheld, matches
from .record import Head, RecordError, read_document, read_events, read_head, read_result
from .rulings import deed, listed, refusal, rule_of, ruling
from .scoring import Score, result
from .state import blank
from .tally import Tally

LATEST_MS = 4_000  # how long after its limit the clock may act


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, where, and by which rule.

    `seq` counts the events from 1; 0 is what a record says before them, None a document that is no record at all.
    `rule` is None where the form is broken and no rule of the game.
    """

    seq: int | None
    rule: str | None
    message: str

    def __str__(self) -> str:
        where = () if self.seq is None else (f"seq {self.seq}",)
        rule = () if self.rule is None else (self.rule,)
        return ": ".join((*where, *rule, self.message))


def judge(document: str | bytes) -> list[Fault]:
    """All faults of a record, in the order of the game; none where all is well. Any document gets an answer.

    Where a fault leaves open what the game would have been, it is the last one.
    """
    try:
        source = read_document(document)
        head = read_head(source)
    except RecordError as wrong:
        return [Fault(0 if wrong.rule else None, wrong.rule, str(wrong))]
    replayed = _Replay(head)
    try:
        for event in read_events(source):
            replayed.take(event)
        replayed.finish()
    except RecordError as wrong:
        replayed.faults.append(Fault(replayed.number + 1, wrong.rule, str(wrong)))
    except _Lost:
        pass
    else:
        replayed.faults += _result_faults(source, replayed)
    return [*_head_faults(head), *replayed.faults]


class _Lost(Exception):
    """After the last fault nobody can say what the game would have been."""


class _Replay:
    """The game as far as it is told; an event that says something wrong counts as what it must say."""

    def __init__(self, head: Head) -> None:
        self.faults: list[Fault] = []
        self.number = 0
        self.state = blank(head.terms)
        self.tally = Tally(head.terms.edition, len(head.terms.seats))
        self._seq = 0  # of the last event, as it says itself
        self._fell = False  # whether time fell at the last event
        self._follow: list[Event] = list(play.setup(head.terms))

    def take(self, said: Event) -> None:
        """Plays the next event."""
        self.number += 1
        self._check_order(said)
        event = _in_order(replace(said, seq=self.number, at=max(said.at, self.state.at)))
        if not self._follow:
            self._follow = self._brought_about(event)
        expected = self._follow.pop(0)
        self._compare(event, expected)
        self.state = play.apply(self.state, expected)
        self.tally.count(expected)

    def finish(self) -> None:
        """There are no more events."""
        wrong: tuple[str, str] | None = None
        if self._follow:
            wrong = self._rule_of(self._follow[0]), f"the record ends, but this must happen: {deed(self._follow[0])}"
        elif self.state.phase != "over":
            wrong = "R7.2", "the record ends, but the game does not"
        if wrong is not None:
            self.faults.append(Fault(self.number + 1, *wrong))
            raise _Lost

    def _check_order(self, said: Event) -> None:
        """One wrong number, one wrong time is one fault, even if all others are counted from it."""
        if said.seq != self._seq + 1:
            self._note("R4.3", f"its seq is {said.seq}, it must be {self._seq + 1}")
        self._seq = said.seq
        if said.at < self.state.at:
            if self._fell:
                raise _Lost
            self._note("R4.3", f"it is at {said.at}, the event before it at {self.state.at}")
        self._fell = said.at < self.state.at

    def _brought_about(self, event: Event) -> list[Event]:
        """This event, which does not follow from the one before, as it must be, and what follows from it."""
        if self.state.phase == "over":
            raise self._lost("R7.2", f"{deed(event)}, but the game is over")
        match event:
            case events.Resumed():
                return self._takeover(event)
            case events.GameEnded(reason="void", by="staff" | "server" as by):
                return list(play.void(self.state, by, event.at))
            case (
                events.CountdownStarted()
                | events.SearchStarted()
                | events.Returned(by="clock" | "end")
                | events.Escaped(by="clock")
                | events.Passed(by="clock")
            ):
                return self._clock(event)
            case _:
                return self._answer(event)

    def _takeover(self, event: events.Resumed) -> list[Event]:
        away = event.at - self.state.at
        if not LEAST_LOST_MS < event.lost_ms <= away:
            raise self._lost(
                rule_of(event),
                f"{event.lost_ms} ms cannot be lost: it must be more than {LEAST_LOST_MS}, "
                f"and at most the {away} since the event before",
            )
        return list(play.resume(self.state, event.lost_ms, event.at, stalled=event.stalled))

    def _clock(self, event: Event) -> list[Event]:
        due = wake_at(self.state)
        if due is None or event.at < due:
            early = "" if due is None else f": {due - event.at} ms too early"
            raise self._lost(rule_of(event), f"{deed(event)}, but no limit is over{early}")
        late = event.at - due
        if late > LATEST_MS:
            self._note(rule_of(event), f"{deed(event)} {late} ms after the limit, {LATEST_MS} is the most")
        acts = _of_this_hand(list(play.tick(self.state, event.at)), event)
        if len(acts) == 1 and (end := play.follow(play.apply(self.state, acts[0]))):
            acts.append(end)
        return acts

    def _answer(self, event: Event) -> list[Event]:
        """What the player's command, or the staff's removal of a player, brings about."""
        asked = _command(event)
        removed = event.seat if isinstance(event, events.Abandoned) and event.by == "staff" else None
        seat = removed if asked is None else asked[0]
        if seat is None:
            raise self._lost(rule_of(event), f"{deed(event)}, but nothing before it brings this about")
        if seat >= len(self.state.players):
            raise self._lost("R1.1", f"{deed(event)}, but there is no such seat")
        try:
            if asked is None:
                return list(play.remove(self.state, seat, event.at))
            return list(play.decide(self.state, seat, asked[1], event.at))
        except Refused as refused:
            raise self._lost(*refusal(refused.code, event)) from None

    def _compare(self, event: Event, expected: Event) -> None:
        """Notes what this event says other than it must."""
        if type(event) is not type(expected) or _seat(event) != _seat(expected):
            raise self._lost(
                self._rule_of(expected), f"this must happen at once: {deed(expected)}; not this: {deed(event)}"
            )
        if event.at != expected.at:
            raise self._lost(*ruling(self.state, event, expected, "at"))
        for field in fields(expected):
            if getattr(event, field.name) != getattr(expected, field.name):
                self._note(*ruling(self.state, event, expected, field.name))

    def _rule_of(self, expected: Event) -> str:
        """The rule by which this event must come next."""
        return "R8.12" if rounds.too_long(self.state) else rule_of(expected)

    def _note(self, rule: str, message: str) -> None:
        self.faults.append(Fault(self.number, rule, message))

    def _lost(self, rule: str, message: str) -> _Lost:
        """Notes the last fault, and is there to be raised."""
        self._note(rule, message)
        return _Lost()


def _head_faults(head: Head) -> Iterator[Fault]:
    terms = head.terms
    if head.commitment != terms.commitment:
        yield Fault(0, "R8.11", "the commitment is not the hash of the server seed")
    if head.markets != terms.markets:
        yield Fault(0, "R8.11", f"the markets are {listed(head.markets)}, the seed gives {listed(terms.markets)}")
    for number, seat in enumerate(terms.seats):
        if seat.kind == "bot" and seat.nonce != NO_NONCE:
            yield Fault(0, "R8.11", f"seat {number} is a bot, its nonce must be zeros")
    yield from _share_faults(head)
    try:
        known = load_edition(terms.edition.name)
    except EditionError:
        return  # an edition of somebody else's
    if known != terms.edition:
        yield Fault(0, "R1.4", f"this is not what edition {known.name} is")


def _share_faults(head: Head) -> Iterator[Fault]:
    """Against what the seats committed to; a record from before that has nothing to be held against."""
    for number, (seat, share) in enumerate(zip(head.terms.seats, head.shares or (), strict=False)):
        if seat.kind == "bot" and share is not None:
            yield Fault(0, "R8.11", f"seat {number} is a bot, it commits to nothing")
        elif share is None and seat.kind == "human" and seat.nonce != NO_NONCE:
            yield Fault(0, "R8.11", f"seat {number} committed to no nonce, so it must be zeros")
        elif share is not None and not matches(share, seat.nonce) and not is_withheld(share, seat.nonce):
            yield Fault(0, "R8.11", f"the nonce of seat {number} is not the one it committed to")


def judge_place(document: str | bytes, lines: Mapping[int, Line]) -> list[Fault]:
    """What is wrong with a record's place in a public list that was kept."""
    try:
        head = read_head(read_document(document))
    except RecordError as wrong:
        return [Fault(0 if wrong.rule else None, wrong.rule, str(wrong))]
    if head.place is None or head.shares is None:
        return [Fault(0, None, "the record names no line of the public list")]
    line = lines.get(head.place.number)
    if line is None:
        return [Fault(0, None, f"the list that was kept has no line {head.place.number}")]
    faults = []
    if line.digest != digest(head.id, head.terms, head.shares):
        faults.append(Fault(0, "R8.11", f"line {line.number} of the list was written for something else"))
    if line.head != head.place.head:
        faults.append(Fault(0, "R8.11", f"the head after line {line.number} of the list is another one"))
    return faults


def _result_faults(source: dict[str, object], replayed: _Replay) -> Iterator[Fault]:
    """Against the engine's own count and against the separate one."""
    right = result(replayed.state)
    assert right is not None
    last = replayed.number
    try:
        said = read_result(source, len(right.scores))
    except RecordError as wrong:
        yield Fault(last, wrong.rule, str(wrong))
        return
    if said.reason != right.reason:
        yield Fault(last, "R7.2", f"the result gives {said.reason} as the reason, it is {right.reason}")
    for seat, (score, *counts) in enumerate(zip(said.scores, right.scores, replayed.tally.scores(), strict=True)):
        for count in counts:
            if score != count:
                yield Fault(last, "R7.3", f"seat {seat} is said to have {_points(score)}, it has {_points(count)}")
                break
    if not said.ranking == right.ranking == replayed.tally.ranking():
        rule = "R8.10a" if right.reason == "void" else "R8.8" if replayed.state.leavers else "R7.4"
        yield Fault(last, rule, f"the ranking is said to be {listed(said.ranking)}, it is {listed(right.ranking)}")


def _seat(event: Event) -> int | None:
    seat: int | None = getattr(event, "seat", None)
    return seat


def _points(score: Score) -> str:
    return ", ".join(f"{name} {points}" for name, points in score.as_json().items() if name != "seat")


def _in_order(event: Event) -> Event:
    """The same event with what is paid in ascending order: a price has none."""
    return replace(event, paid=tuple(sorted(event.paid))) if isinstance(event, events.Bought) else event


def _of_this_hand(due: list[Event], event: Event) -> list[Event]:
    """Where the time of several hands is over, the clock may empty them one by one and in any order (R8.3)."""
    hands = [one for one in due if isinstance(one, events.Returned) and one.by == "clock"]
    if not hands or due[0] is not hands[0]:
        return due
    return [next((one for one in hands if isinstance(event, events.Returned) and one.seat == event.seat), hands[0])]


def _command(event: Event) -> tuple[int, commands.Command] | None:
    """Who asked for what, if a command is behind this event."""
    match event:
        case events.Ready():
            return event.seat, commands.Ready(event.on)
        case events.Lifted():
            return event.seat, commands.Lift(event.tile)
        case events.Stashed():
            return event.seat, commands.Stash(event.tile)
        case events.Returned(by="player"):
            return event.seat, commands.Return(event.tile, event.face)
        case events.Escaped(by="player"):
            return event.seat, commands.Escape()
        case events.Bought():
            return event.seat, commands.Buy(event.market, event.paid, event.art, event.cards)
        case events.BagOpened():
            return event.seat, commands.OpenBag(event.tile)
        case events.Placed():
            return event.seat, commands.Place(event.art, event.card)
        case events.Passed(by="player"):
            return event.seat, commands.Pass()
        case events.Abandoned(by="player"):
            return event.seat, commands.Leave()
        case _:
            return None
