"""What is wrong with the site right now, for staff: whatever somebody has to look at."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import redis
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as say

from games import clock, gauges, ladder, servers, valkey
from games.models import Game, Generation, Nudge, Proof, Server
from games.models.play import MOST_STALLED_MS
from games.rules.terms import MOST_EVENTS

logger = logging.getLogger(__name__)

# The worker's sign of life, as midnight/health.py writes it.
HEARTBEAT = "midnight:heartbeat"
OLD_HEARTBEAT_SECONDS = 15
MOST_AHEAD_SECONDS = 1
MOST_JOBS = 100
# A game that waits longer for its rating, a game that waits longer for its clock, is in trouble.
UNRATED_SECONDS = 60
# A letter that was begun so long ago was not taken.
UNSENT = timedelta(minutes=2)
# It is tried again every few minutes: one that was begun so long ago is not needed any more.
NOT_NEEDED = timedelta(minutes=30)
# A game that ended so long ago has been a record, and part of careers, for some minutes.
UNARCHIVED = timedelta(minutes=15)
UNCOUNTED = timedelta(minutes=2)
# Recounts are made every night.
UNPROVED = timedelta(days=2)
# For so long staff is shown a game that went on strangely; taken out of the ratings, it is shown no more.
LOOKED_AT = timedelta(days=7)
MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is looked at: how it is, and whether that is wrong; `games` are addresses to look at."""

    what: str
    now: str
    wrong: bool
    games: Sequence[str] = ()


def look() -> list[Finding]:
    """Everything, the wrong first."""
    kinds = (_processes, _queue, _ratings, _overdue, _letters, _parked, _not_seen_to, _recounts)
    return sorted((finding for kind in kinds for finding in kind()), key=lambda finding: not finding.wrong)


def _processes() -> list[Finding]:
    """The web processes, and how far their clock is from the database's: they part when one of the two is set."""
    skew = clock.published_skew()
    now = clock.database_now() + skew
    signs = [(server.name, servers.sign_of(server)) for server in Server.objects.all()]
    # A sign of life of the future shows that a clock is wrong: it is named, too.
    ages = sorted((now - sign.at + sign.still_ms, name) for name, sign in signs)
    heard = [(ms, name) for ms, name in ages if ms < servers.GONE_MS]
    said = ", ".join(f"{name}: {ms / 1000:.1f} s" for ms, name in heard)
    # A process is heard of from the first game on that somebody opens there.
    missed = any(abs(ms) > servers.SILENT_MS for ms, _ in heard)
    missed = missed or (not heard and Game.objects.filter(ended=None).exists())
    return [
        Finding(str(say("Web processes, and when they were last heard of")), said or "–", missed),
        Finding(
            str(say("The clock of the games is ahead of the database's by")),
            f"{skew / 1000:.1f} s",
            abs(skew) > clock.STEP_MS,
        ),
    ]


def _queue() -> list[Finding]:
    try:
        with valkey.client() as client:
            jobs, letters = int(client.llen(gauges.QUEUE)), int(client.llen(settings.LETTERS_QUEUE))
            last, now = client.get(HEARTBEAT), valkey.seconds_of(client.time())
    except (redis.RedisError, OSError):
        return [Finding(str(say("Redis")), str(say("does not answer")), wrong=True)]
    age = None if last is None else now - float(last)
    said = str(say("none yet")) if age is None else str(say("%(seconds)d s ago")) % {"seconds": age}
    # One of the future was written before a clock was set back: it says nothing about now.
    ill = age is None or not -MOST_AHEAD_SECONDS <= age <= OLD_HEARTBEAT_SECONDS
    return [
        Finding(str(say("Last heartbeat of the worker")), said, ill),
        Finding(str(say("Jobs that wait")), str(jobs), jobs > MOST_JOBS),
        Finding(str(say("Letters that wait")), str(letters), letters > MOST_JOBS),
    ]


def _ratings() -> list[Finding]:
    found = []
    for pace in Game.Pace:
        waiting = Game.objects.filter(pace=pace, finish_seq__gt=ladder.rated_to(pace)).order_by("finish_seq")
        first = waiting.values_list("ended", flat=True).first()
        age = (timezone.now() - first).total_seconds() if first else 0
        said = str(say("%(number)d, the first for %(seconds)d s")) % {"number": ladder.unrated(pace), "seconds": age}
        found.append(
            Finding(
                str(say("Finished games without a rating: %(pace)s")) % {"pace": pace.label},
                said if first else "0",
                age > UNRATED_SECONDS,
            )
        )
    building = Generation.objects.filter(state=Generation.State.BUILDING).order_by("made").first()
    since = str(say("none")) if building is None else _when(building.made)
    return [*found, Finding(str(say("A ladder is being replayed since")), since, wrong=False)]


def _overdue() -> list[Finding]:
    late = clock.site_now() - servers.GONE_MS
    games = Game.objects.filter(ended=None, wake_at__lt=late).order_by("wake_at")
    first = games.values_list("wake_at", flat=True).first()
    since = "" if first is None else datetime.fromtimestamp(first / 1000, UTC).strftime(" (%Y-%m-%d %H:%M UTC)")
    codes = list(games.values_list("code", flat=True)[:MOST_NAMED])
    what = str(say("Tables whose time passed more than a minute ago"))
    return [Finding(what, f"{games.count()}{since}", bool(codes), codes)]


def _letters() -> list[Finding]:
    """Whom a relaxed game waits for while the mail server does not take the letter that says so."""
    now = timezone.now()
    tried = (now - NOT_NEEDED, now - UNSENT)
    begun = Nudge.objects.filter(tried__range=tried, muted=False, seat__game__ended=None)
    codes = [
        nudge.seat.game.code
        for nudge in begun.select_related("seat__game").order_by("tried", "pk")
        if nudge.seat.game.awaits >> nudge.seat.number & 1
    ]
    return [Finding(str(say("Letters that do not go out")), str(len(codes)), bool(codes), codes[:MOST_NAMED])]


def _parked() -> list[Finding]:
    games = Game.objects.order_by("-pk")
    stalled = Game.objects.filter(ranked=True, stalled_ms__gt=MOST_STALLED_MS, ended__gt=timezone.now() - LOOKED_AT)
    return [
        _named(
            str(say("Rated games whose server stood still for more than a minute")),
            stalled.filter(pace=Game.Pace.LIVE, voided=None).order_by("-ended"),
        ),
        _named(
            str(say("Games that ended at their greatest length")),
            Game.objects.filter(reason="void", head__gte=MOST_EVENTS, ended__gt=timezone.now() - LOOKED_AT),
        ),
        _named(str(say("Games that cannot be rated")), games.filter(rated=Game.Rated.PARKED)),
        _named(str(say("Games that make no record")), games.filter(kept_as=Game.Kept.PARKED)),
    ]


def _not_seen_to() -> list[Finding]:
    """Finished games to which no job has come, or in which it fails each time."""
    now = timezone.now()
    unarchived = Game.objects.filter(ended__lt=now - UNARCHIVED, kept_as=Game.Kept.LOG).order_by("ended")
    uncounted = Game.objects.filter(ended__lt=now - UNCOUNTED, counted=False).order_by("pk")
    return [
        _named(str(say("Finished games that are no records yet")), unarchived),
        _named(str(say("Finished games that no career counts yet")), uncounted),
    ]


def _named(what: str, games: QuerySet[Game]) -> Finding:
    codes = list(games.values_list("code", flat=True)[: MOST_NAMED + 1])
    number = f"{MOST_NAMED}+" if len(codes) > MOST_NAMED else str(len(codes))
    return Finding(what, number, bool(codes), codes[:MOST_NAMED])


def _recounts() -> list[Finding]:
    """What the last recounts found, and that there are any."""
    proofs = Proof.objects.in_bulk()
    return [_recounted(kind, proofs.get(kind)) for kind in Proof.Of]


def _recounted(kind: Proof.Of, proof: Proof | None) -> Finding:
    what = str(say("Differences in the last recount: %(what)s")) % {"what": kind.label}
    if proof is None:
        return Finding(what, str(say("no recount yet")), wrong=False)
    wrong = proof.differences > 0 or proof.at < timezone.now() - UNPROVED
    return Finding(what, f"{proof.differences} ({_when(proof.at)})", wrong)


def _when(moment: datetime) -> str:
    return timezone.localtime(moment).strftime("%Y-%m-%d %H:%M")
