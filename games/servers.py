"""The processes that look after games: who is alive, who keeps which game, and which games need a process.

Every process says once a second that it lives (`beat`), from a thread that does not wait for its event loop
(games/heartbeat.py), and for how long that loop has stood still. `Peers` is what one process knows of the others by
that. A process that is silent is gone, and any other may take its games. One that is heard of keeps its games, unless
its loop has stood still for `STUCK_MS`.

No clock of another machine decides this. A process is silent when its row has not changed for `SILENT_MS` by the
monotonic clock of the process that looks, while that one's own row changed `BEATS` times: when the database is slow,
or the process that looks is, no process is taken for gone. How long a game was left alone is told by the site's clock
(games/clock.py).
"""

import os
import socket
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db import transaction
from django.db.models import Q

from games.clock import Clock, database_now, published_skew, since_boot, site_now
from games.models import Game, Server
from games.pulse import pulse

SILENT_MS = 2_000
# So many beats of its own a process sees stored before it takes another one for gone.
BEATS = 2
# A process whose event loop has stood still for so long keeps no game any longer, although it lives.
STUCK_MS = 15_000
GONE_MS = 60_000
# A process that was taken for gone and came back is given twice the patience, up to this; and the usual one again
# after so many seconds without a gap.
MOST_PATIENCE_MS = 16_000
CALM_SECONDS = 60.0
# For so long a process that starts, or a sweep, waits for a sign of life of the others.
LISTEN_SECONDS = 1.5
LISTEN_STEP_SECONDS = 0.25
# In the pulse of a process that was asked to stop.
STOPPING = "stopping"


class Loss(NamedTuple):
    """For how long a game was not looked after.

    `stalled`: its process lived and stood still all that time. Else that process was gone, as after a crash.
    """

    ms: int
    stalled: bool


NOTHING_LOST = Loss(0, stalled=False)


class Sign(NamedTuple):
    """The last sign of life of a process: what its row says."""

    server: int
    # The database's time of day, and the site's time; an earlier version says only the first.
    seen: int
    clock: int | None
    skew: int | None
    turned: int | None

    @property
    def at(self) -> int:
        return self.seen if self.clock is None else self.clock

    @property
    def still_ms(self) -> int:
        """How long its event loop had stood still by then."""
        return 0 if self.turned is None else max(0, self.seen - self.turned)

    def loss(self, now: int, *, stalled: bool) -> Loss:
        """For how long its games have not been looked after. A sign from the future is none: since ever, then."""
        silent_ms = now - self.at
        return Loss(now if silent_ms < -SILENT_MS else max(0, silent_ms) + self.still_ms, stalled)


def signs() -> list[Sign]:
    """The last sign of life of every process."""
    return [Sign(*row) for row in Server.objects.values_list("pk", "seen", "clock", "skew", "turned")]


def sign_of(server: Server) -> Sign:
    """The last sign of life of this process."""
    return Sign(server.pk, server.seen, server.clock, server.skew, server.turned)


class _Heard:
    """What is known here of another process."""

    def __init__(self, sign: Sign, now: float) -> None:
        self.sign = sign
        self.changed = now
        # So many beats of this process came since.
        self.beats = 0
        self.patience_ms = SILENT_MS
        self.silent = False
        self.calm_since = now

    @property
    def stuck(self) -> bool:
        return self.sign.still_ms > STUCK_MS

    def hear(self, sign: Sign, now: float, *, own_beat: bool) -> bool:
        """Take in what its row says now. The answer is whether that is something new."""
        new = (sign.seen, sign.clock) != (self.sign.seen, self.sign.clock)
        if new:
            if self.silent:
                self.patience_ms = min(2 * self.patience_ms, MOST_PATIENCE_MS)
                self.calm_since = now
            elif self.patience_ms > SILENT_MS and now - self.calm_since > CALM_SECONDS:
                self.patience_ms = SILENT_MS
            self.changed, self.beats = now, 0
        else:
            self.beats += own_beat
        self.sign = sign
        self.silent = self.beats >= BEATS and (now - self.changed) * 1000 > self.patience_ms
        return new


class Peers:
    """What one process knows of the others, by its own looks at their rows."""

    def __init__(self, monotonic: Callable[[], float] = since_boot) -> None:
        self._monotonic = monotonic
        self._heard: dict[int, _Heard] = {}
        self._own: Sign | None = None
        self._without_row: frozenset[int] = frozenset()
        self._looked = 0.0

    def look(self, own: int, found: Iterable[Sign], without_row: Iterable[int], now: int) -> list[int]:
        """Take in every process's sign of life; the keepers `without_row` are gone. `now` is the site's time.

        The answer is the skews of those heard of anew.
        """
        moment = self._monotonic()
        rows = {sign.server: sign for sign in found}
        before, self._own = self._own, rows.pop(own, self._own)
        own_beat = before is not None and before != self._own
        # A process that has just been met is alive as long as the site's clock says so.
        self._heard = {pk: self._heard.get(pk) or self._meet(sign, moment, now) for pk, sign in rows.items()}
        self._without_row = frozenset(without_row)
        heard_anew = [sign for sign in rows.values() if self._heard[sign.server].hear(sign, moment, own_beat=own_beat)]
        # Last: another thread must not take what is older than this for the finding of this look.
        self._looked = moment
        return [sign.skew for sign in heard_anew if sign.skew is not None]

    @staticmethod
    def _meet(sign: Sign, moment: float, now: int) -> _Heard:
        heard = _Heard(sign, moment)
        if sign.loss(now, stalled=False).ms - sign.still_ms > SILENT_MS:
            # Silent for long already, when this process began: see `begin`.
            heard.beats, heard.changed = BEATS, moment - SILENT_MS / 1000 - 1
        return heard

    def alive(self) -> list[int]:
        """The processes that keep their games, this one among them."""
        own = [] if self._own is None else [self._own.server]
        return [*own, *(pk for pk, heard in self._heard.items() if not heard.silent and not heard.stuck)]

    def loss(self, server: int | None, now: int) -> Loss:
        """For how long that process has not looked after its games; nothing where it does, as of the last look.

        One that has not looked for long knows of nothing.
        """
        if (self._monotonic() - self._looked) * 1000 > SILENT_MS:
            return NOTHING_LOST
        heard = self._heard.get(server or 0)
        if heard is None:
            return Loss(now, stalled=False) if server in self._without_row else NOTHING_LOST
        if heard.silent or heard.stuck:
            return heard.sign.loss(now, stalled=not heard.silent)
        return NOTHING_LOST


def begin(clock: Clock, wait: Callable[[float], None] = time.sleep) -> int:
    """Set this process's clock by the site's, and make a row for it.

    A process that is heard of knows the site's time. Where all seem silent, perhaps only the database's clock was set:
    then it waits for the next sign of life before it believes that the site has stood still.
    """
    clock.set(database_now)
    before = signs()
    awake = [sign for sign in before if abs(clock.now() - sign.seen) <= SILENT_MS]
    end = LISTEN_SECONDS
    while before and not awake and end > 0:
        wait(LISTEN_STEP_SECONDS)
        end -= LISTEN_STEP_SECONDS
        awake = changed(before)
    known = [sign.skew for sign in sorted(awake, key=lambda sign: sign.at) if sign.skew is not None]
    clock.shift(known[-1] if known else published_skew())
    return Server.objects.create(name=own_name(), seen=clock.wall(), clock=clock.now()).pk


def changed(before: Collection[Sign]) -> list[Sign]:
    """The processes heard of since those signs of life."""
    old = set(before)
    return [sign for sign in signs() if sign not in old]


def own_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"[:100]


def beat(server: int, clock: Clock, stands_still_ms: int = 0, people: int = 0, *, stopping: bool = False) -> None:
    """Say that this process lives, and how it does; a row that was cleared away comes back."""
    seen = clock.wall()
    said = {
        "seen": seen,
        "clock": clock.now(),
        "skew": clock.published_skew_ms,
        "turned": seen - stands_still_ms,
        "pulse": {**pulse.read(people), **({STOPPING: True} if stopping else {})},
    }
    if not Server.objects.filter(pk=server).update(**said):
        Server.objects.create(pk=server, name=own_name(), **said)


def without_row() -> list[int]:
    """The keepers of running games that have no row."""
    kept = Game.objects.filter(ended=None).exclude(kept_by=None)
    return list(kept.exclude(kept_by__in=Server.objects.all()).values_list("kept_by", flat=True).distinct())


def overdue(now: int, alive: Collection[int] = (), lately: Collection[int] = ()) -> list[int]:
    """Running games whose time has come and whose keeper is not alive.

    A live game waits until its keeper was not heard of `lately` either: its people could not play it before their web
    process is back.
    """
    due = Game.objects.filter(ended=None, wake_at__lte=now)
    relaxed = due.filter(_forsaken(alive), pace=Game.Pace.RELAXED)
    live = due.filter(_forsaken({*alive, *lately}), pace=Game.Pace.LIVE)
    ids: list[int] = list(relaxed.union(live).values_list("pk", flat=True)[:500])
    return ids


class Onlooker:
    """What a process that keeps no game knows of those that do: who has given a sign of life between two of its looks.

    It may be asked from several threads: the worst that comes of it is that a game waits for the next look.
    """

    def __init__(self, monotonic: Callable[[], float] = since_boot) -> None:
        self._monotonic = monotonic
        self._before: tuple[float, list[Sign]] | None = None

    def forget(self) -> None:
        """Know nothing of any look before."""
        self._before = None

    def overdue(self, wait: Callable[[float], None] = time.sleep) -> list[int]:
        """The games that are `overdue`, by two looks some seconds apart: it waits where there was none before."""
        looked, found, now = self._monotonic(), signs(), site_now()
        due = overdue(now, seem_alive(found, now, SILENT_MS), seem_alive(found, now, GONE_MS))
        before = self._before
        if before is None or looked - before[0] > GONE_MS / 1000:
            before, self._before = None, (looked, found)
        elif looked - before[0] < SILENT_MS / 1000:
            before = None
        if before is None:
            if not due or not found:
                return due
            wait(SILENT_MS / 1000)
            before, looked, found, now = (looked, found), self._monotonic(), signs(), site_now()
        self._before = (looked, found)
        heard = [sign for sign in found if sign not in before[1]]
        if heard and all(abs(database_now() - sign.seen) > SILENT_MS for sign in heard):
            # The database's clock was set in this moment, and no process has said yet by how much.
            return []
        alive = [sign.server for sign in heard if sign.still_ms <= STUCK_MS]
        return overdue(now, alive, seem_alive(found, now, GONE_MS))


def seem_alive(found: Iterable[Sign], now: int, silent_ms: int) -> list[int]:
    """The processes heard of within that time by the site's clock, whose event loop turns."""
    most_still_ms = max(silent_ms, STUCK_MS)
    return [sign.server for sign in found if -SILENT_MS <= now - sign.at < silent_ms and sign.still_ms <= most_still_ms]


def orphans(now: int, mine: int, alive: Collection[int]) -> list[int]:
    """Running games that need a process: live ones whose keeper is gone; relaxed ones in which only bots have
    something to do and no process moves them; those that are due. Of the games that this process keeps, those that it
    has dropped."""
    running = Game.objects.filter(ended=None)
    forsaken = _forsaken(alive)
    live = running.filter(forsaken, pace=Game.Pace.LIVE).exclude(kept_by=None).exclude(kept_by=mine)
    bots_turn = running.filter(forsaken | Q(kept_by=mine), pace=Game.Pace.RELAXED, awaits=0, head__gt=0)
    due = running.filter(forsaken | Q(kept_by=mine), wake_at__lte=now)
    ids: list[int] = list(live.union(bots_turn, due).values_list("pk", flat=True)[:500])
    return ids


def _forsaken(alive: Collection[int]) -> Q:
    """Of games: none of these processes keeps them."""
    return ~Q(kept_by__in=list(alive))


def take_over(game_id: int, head: int, kept_by: int | None, mine: int) -> bool:
    """Keep a game from now on in the place of that process; False where it has gone on, or another one keeps it."""
    kept = Game.objects.filter(pk=game_id, head=head, kept_by=kept_by, ended=None)
    return bool(kept.update(kept_by=mine))


def successors(mine: int, alive: Collection[int]) -> list[int]:
    """The other processes that may be given games: they live, their loops turn, and they are not about to stop."""
    others = Server.objects.filter(pk__in=list(alive)).exclude(pk=mine).order_by("pk")
    return [
        other.pk for other in others if sign_of(other).still_ms <= SILENT_MS and not (other.pulse or {}).get(STOPPING)
    ]


def kept_games(server: int) -> list[int]:
    """The running games that this process keeps."""
    return list(Game.objects.filter(ended=None, kept_by=server).order_by("pk").values_list("pk", flat=True))


def give(shares: Mapping[int, Sequence[int]], mine: int) -> None:
    """Have each of these servers keep its games from now on, where they are still kept by this process and running."""
    game_ids = sorted(game_id for share in shares.values() for game_id in share)
    with transaction.atomic():
        # In the order in which every writer takes them.
        list(Game.objects.select_for_update().filter(pk__in=game_ids).order_by("pk").values_list("pk"))
        for server, share in shares.items():
            Game.objects.filter(pk__in=share, kept_by=mine, ended=None).update(kept_by=server)


def not_loaded(mine: int, here: Sequence[int]) -> list[int]:
    """Live games that this process keeps and has no table for: they were given to it, and the word was lost."""
    own = Game.objects.filter(ended=None, kept_by=mine, pace=Game.Pace.LIVE, head__gt=0)
    return list(own.exclude(pk__in=here).values_list("pk", flat=True)[:500])


def loss(server: int | None, now: int) -> Loss:
    """For how long that process has not looked after its games by the site's clock, for who only looks in."""
    if server is None:
        return NOTHING_LOST
    sign = next((sign for sign in signs() if sign.server == server), None)
    if sign is None:
        return Loss(now, stalled=False)
    if abs(now - sign.at) > SILENT_MS:
        return sign.loss(now, stalled=False)
    return sign.loss(now, stalled=True) if sign.still_ms > STUCK_MS else NOTHING_LOST


def clear_out(before: int, alive: Collection[int]) -> int:
    """Forget processes that are not alive, have been silent since then and keep no running game."""
    kept = Game.objects.filter(ended=None).exclude(kept_by=None).values("kept_by")
    silent = Q(clock__lt=before) | Q(clock=None, seen__lt=before)
    return Server.objects.filter(silent).exclude(pk__in=kept).exclude(pk__in=list(alive)).delete()[0]
