"""What the signs are computed from: a person's last finished games as records, and ranked results in columns.

Whoever plays is looked over by and by, so that no moderator has to open a page by chance to find what stands out.
"""

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Max
from django.utils import timezone

from accounts.models import User
from games import archive
from games.models import Game, Glance, Seat
from games.moderation import signs
from games.moderation.signs import Result, Seen, Sign

# So many last games are watched, so many days of results are compared.
GAMES = 20
DAYS = 30
MOST_RESULTS = 5_000

# Whoever finished games within a day is looked over once in so long; one sweep takes no longer, and so many at most.
EVERY = timedelta(hours=6)
LATELY = timedelta(days=1)
MOST = 40
SECONDS = 20
# So many people are listed.
LISTED = 50


def signs_of(person: User, results: Sequence[Result]) -> list[Sign]:
    """Everything the person's own games say about their hands and their will to win."""
    seen = Seen()
    for seat in _last_seats(person):
        if record := archive.record_of(seat.game):
            seen.add(signs.see(record["events"], seat.number))
    return [*signs.of_hands(seen), *signs.of_throwing(results, person.pk)]


def pairs_of(person: User, results: Sequence[Result]) -> list[tuple[User, list[Sign]]]:
    """Whom this person meets or loses to beyond chance; nobody else is named."""
    found = signs.of_pairs(results, person.pk)
    striking = {other: said for other, said in found.items() if any(sign.raised for sign in said)}
    people = User.objects.in_bulk(striking)
    return [(people[other], said) for other, said in striking.items() if other in people]


def _last_seats(person: User) -> list[Seat]:
    played = Seat.objects.filter(user=person, game__ended__isnull=False).select_related("game")
    return list(played.order_by("-game__ended")[:GAMES])


def ranked_results() -> list[Result]:
    """The ranked games of the last days that have a ranking, the latest ones if there are many."""
    since = timezone.now() - timedelta(days=DAYS)
    games = Game.objects.filter(ranked=True, ended__gt=since).exclude(reason="void").order_by("-ended")
    numbers = list(games.values_list("pk", flat=True)[:MOST_RESULTS])
    seats = Seat.objects.filter(game__in=numbers, user__isnull=False, place__isnull=False).order_by("place")
    rankings: dict[int, list[int]] = defaultdict(list)
    lifts: dict[int, dict[int, int]] = defaultdict(dict)
    for game, user, conduct, lifted in seats.values_list("game", "user_id", "conduct", "figures__lifts"):
        rankings[game].append(user)
        # A game has figures some minutes after its end.
        if conduct == Seat.Conduct.FINISHED and lifted is not None:
            lifts[game][user] = lifted
    return [Result(tuple(ranking), lifts[game]) for game, ranking in rankings.items()]


# What stands out ------------------------------------------------------------------------------------------------------


def look_over() -> int:
    """Look over who finished games since the last time; the answer is how many people that were."""
    due = _due(timezone.now())
    results = ranked_results() if due else []
    end = time.monotonic() + SECONDS
    done = 0
    for person_id, last in due[:MOST]:
        person = User.objects.filter(pk=person_id, deleted_at=None).first()
        if person is not None:
            _look_over(person, last, results)
            done += 1
        if time.monotonic() > end:
            break
    return done


def _due(now: datetime) -> list[tuple[int, datetime]]:
    """Who has had a record made of a new game, with that game's end; who waits the longest comes first."""
    here = (now - LATELY).date()
    seats = Seat.objects.filter(user__seen_on__gte=here, user__deleted_at=None, ended__gt=now - LATELY)
    played = seats.filter(figures__isnull=False).values_list("user").annotate(last=Max("ended"))
    glances = Glance.objects.filter(person__seen_on__gte=here).values_list("person", "at", "last")
    seen = {person: (at, last) for person, at, last in glances}
    due = []
    for person, last in played:
        at, seen_last = seen.get(person, (None, None))
        if at is None or seen_last is None or (seen_last < last and at <= now - EVERY):
            due.append((person, last))
    return sorted(due, key=lambda one: one[1])


def _look_over(person: User, last: datetime, results: Sequence[Result]) -> None:
    said: list[tuple[int | None, list[Sign]]] = [(None, signs_of(person, results))]
    said += [(other.pk, pair) for other, pair in pairs_of(person, results)]
    raised = [
        {"key": sign.key, "value": sign.value, "of": sign.of, "other": other}
        for other, found in said
        for sign in found
        if sign.raised
    ]
    seen = {"at": timezone.now(), "last": last, "raised": raised, "stands_out": bool(raised)}
    Glance.objects.update_or_create(person=person, defaults=seen)


@dataclass(frozen=True, slots=True)
class StandsOut:
    """Somebody in whose last games signs were raised, and whom else these name."""

    person: User
    at: datetime
    signs: list[Sign]
    pairs: list[tuple[User, list[Sign]]]


def standing_out(moderator: User) -> list[StandsOut]:
    """In whose games something stood out, the latest first; nothing in which the moderator is one of those meant."""
    since = timezone.now() - timedelta(days=DAYS)
    glances = Glance.objects.filter(stands_out=True, at__gt=since).exclude(person=moderator).select_related("person")
    listed = list(glances.order_by("-at")[:LISTED])
    others = User.objects.in_bulk({one["other"] for glance in listed for one in glance.raised if one["other"]})
    rows = [_as_it_was(glance, others, moderator) for glance in listed]
    return [row for row in rows if row.signs or row.pairs]


def _as_it_was(glance: Glance, others: dict[int, User], moderator: User) -> StandsOut:
    own: list[Sign] = []
    shared: dict[int, list[Sign]] = defaultdict(list)
    for one in glance.raised:
        sign = Sign(one["key"], one["value"], one["of"], raised=True)
        if one["other"] is None:
            own.append(sign)
        elif one["other"] in others and one["other"] != moderator.pk:
            shared[one["other"]].append(sign)
    return StandsOut(glance.person, glance.at, own, [(others[other], said) for other, said in shared.items()])
