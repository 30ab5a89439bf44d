"""The relaxed pace: who owes a turn, who hears of it by mail, and when everybody is there for a search."""

import logging
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.core import signing
from django.core.cache import cache
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from redis import RedisError

from accounts import letters
from accounts.models import User
from accounts.site_links import at_root, link_to
from games import log, news, rooms
from games.models import Game, Meeting, Nudge, Seat
from games.rooms import RoomRefusal, plays_on

logger = logging.getLogger(__name__)

# A page with a person signed in says now and then that it is open, and is believed for so long.
OPEN_SECONDS = 150
# One mail a game in so long, at most.
MAIL_EVERY = timedelta(days=1)
# A letter that was begun and not sent for so long is begun again: longer than any mail server is waited for.
TRY_AGAIN = timedelta(minutes=10)
SALT = "games.nudge"
# A meeting is proposed for some time from now on.
LATEST_MEETING = timedelta(days=7)
# Several proposals in a row of one person are one mail to the others.
MAIL_PROPOSALS_EVERY = timedelta(hours=1)


# Who owes a turn ------------------------------------------------------------------------------------------------------


def owed(person_id: int) -> list[Seat]:
    """Return the seats of running relaxed games in which this person's turn has come, the most urgent first."""
    return owed_of(rooms.running_seats(person_id))


def owed_of(running: Iterable[Seat]) -> list[Seat]:
    """Return those of one person's running seats that are waited for in relaxed games, the most urgent first.

    A game whose players agreed on a time waits for nobody until then.
    """
    relaxed = [seat for seat in running if seat.game.pace == Game.Pace.RELAXED and is_awaited(seat)]
    waiting = agreed([seat.game for seat in relaxed], timezone.now())
    return sorted((seat for seat in relaxed if seat.game_id not in waiting), key=urgency)


def urgency(seat: Seat) -> tuple[bool, int, int]:
    """What seats are sorted by so that the one comes first whose time is over soonest."""
    return seat.game.wake_at is None, seat.game.wake_at or 0, seat.game_id


def is_awaited(seat: Seat) -> bool:
    """Whether the game waits for whoever sits there."""
    return bool(seat.game.awaits >> seat.number & 1)


def awaited_people(game: Game) -> set[int]:
    """Everybody whom this game waits for."""
    seats = game.seats.exclude(user=None).values_list("user", "number")
    return {person for person, number in seats if person is not None and game.awaits >> number & 1}


# Pages that are open --------------------------------------------------------------------------------------------------


def note_page(person_id: int | None) -> None:
    """Somebody has a page of this site open."""
    try:
        cache.set(_page(person_id), 1, OPEN_SECONDS)
    except (RedisError, OSError):
        return


def has_page_open(person_id: int) -> bool:
    """Whether a page of this person's was heard of lately; True where nobody can tell."""
    try:
        return cache.get(_page(person_id)) is not None
    except (RedisError, OSError):
        return True


def _page(person_id: int | None) -> str:
    return f"page:{person_id}"


# Mail -----------------------------------------------------------------------------------------------------------------


def send_due(read_time: Callable[[], datetime] = timezone.now) -> int:
    """Write to whoever is waited for, has no page open and was not written to lately; the answer is how many letters.

    It may run twice or in several workers: a letter is claimed before it is written. Where a worker dies on the way, or
    the mail server takes nothing, the claim ends after a while and the same letter goes out then. Should the mail
    server have had it after all, its id is the same, by which a mailbox knows it. A run may take long: the time is read
    for each letter.
    """
    sent = 0
    for seat in _to_be_told(read_time()):
        nudge = _claim(seat, read_time())
        if nudge is None or seat.user is None:
            continue
        try:
            _write(seat.user, seat, nudge)
        except OSError as error:
            logger.warning("The mail server takes no letters: %s", error)
            break
        Nudge.objects.filter(pk=nudge.pk).update(sent=read_time(), tried=None)
        sent += 1
    return sent


def _to_be_told(now: datetime) -> Iterator[Seat]:
    """Whom to write to; whose letter would not go out comes last, so that it holds nobody else's up."""
    quiet = Q(nudge__muted=True) | Q(nudge__sent__gt=now - MAIL_EVERY) | Q(nudge__tried__gt=now - TRY_AGAIN)
    shut_out = Q(user__suspended_until__gt=now)
    seats = Seat.objects.filter(
        game__pace=Game.Pace.RELAXED, game__ended=None, game__awaits__gt=0, user__is_guest=False, user__closed_at=None
    ).filter(user__turn_mail=True, user__emailaddress__verified=True, user__emailaddress__primary=True)
    for seat in (
        seats.exclude(quiet | shut_out)
        .select_related("game__room", "game__meeting", "user")
        .order_by(F("nudge__tried").asc(nulls_first=True), "pk")
    ):
        if seat.user_id is None or not is_awaited(seat) or has_page_open(seat.user_id):
            continue
        if not agreed([seat.game], now):
            yield seat


def _claim(seat: Seat, now: datetime) -> Nudge | None:
    """The letter to whoever sits there, for this worker alone; None where another was faster or it is not wanted."""
    nudge, _new = Nudge.objects.get_or_create(seat=seat)
    free = Q(tried=None) | Q(tried__lte=now - TRY_AGAIN)
    due = Q(sent=None) | Q(sent__lte=now - MAIL_EVERY)
    claimed = Nudge.objects.filter(free, due, pk=nudge.pk, muted=False, seat__game__ended=None).update(tried=now)
    return nudge if claimed else None


def _write(person: User, seat: Seat, nudge: Nudge) -> None:
    stop = _mute_link(seat)
    before = 0 if nudge.sent is None else int(nudge.sent.timestamp())
    headers = {
        "Message-ID": f"<turn.{seat.pk}.{before}@{urlsplit(settings.SITE_URL).hostname}>",
        "List-Unsubscribe": f"<{stop}>",
    }
    if stop.startswith("https:"):
        # A mail program may press the button by itself (RFC 8058), but only over a line that nobody listens to.
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    facts = {"link": _link_of(seat.game), "mute": stop, "names": _opponents(seat), "deadline": _deadline(seat.game)}
    letters.send_now(person, "games/letters/turn", headers=headers, **facts)


def _opponents(seat: Seat) -> str:
    """Return the names of the people who play on against whoever sits there; empty where only bots do."""
    others = seat.game.seats.exclude(pk=seat.pk).exclude(user=None).select_related("user", "game").order_by("number")
    return ", ".join(one.user.name for one in others if one.user and not one.has_left)


def _deadline(game: Game) -> datetime | None:
    """Return when the game goes on without those it waits for."""
    at = _goes_on_at(game)
    return None if at is None else datetime.fromtimestamp(at / 1000, UTC)


def seat_of_letter(token: str) -> Seat | None:
    """The seat that a letter's link is about; None where the link is none of ours."""
    try:
        return Seat.objects.select_related("game__room").filter(pk=signing.loads(token, salt=SALT)).first()
    except signing.BadSignature:
        return None


def mute(seat: Seat, on: bool = True) -> None:
    """No more letters about this game to whoever sits there, or letters again."""
    Nudge.objects.update_or_create(seat=seat, defaults={"muted": on})


def is_muted(seat: Seat) -> bool:
    return Nudge.objects.filter(seat=seat, muted=True).exists()


# Meeting for a search -------------------------------------------------------------------------------------------------


def meeting_of(game: Game, now: datetime | None = None) -> Meeting | None:
    """Return the time that was proposed last, unless it is long over or its search has begun."""
    meeting = _meetings(game, now or timezone.now()).select_related("by", "game").first()
    return None if meeting is None or _has_begun(meeting) else meeting


def _meetings(game: Game, now: datetime) -> QuerySet[Meeting]:
    return Meeting.objects.filter(game=game, at__gt=now - timedelta(hours=1))


def _has_begun(meeting: Meeting) -> bool:
    """Whether the search that the meeting was for has begun, all having been there earlier."""
    return any('"search_started"' in line.body for line in log.since(meeting.game_id, meeting.head).lines)


def agreed(games: Iterable[Game], now: datetime) -> set[int]:
    """Return those of these games, each with its meeting, whose players have all accepted a time that is to come."""
    ahead = _to_come(games, now)
    if not ahead:
        return set()
    meetings = Meeting.objects.filter(pk__in=ahead).select_related("game").prefetch_related("accepted", "game__seats")
    return {one.game_id for one in meetings if _is_accepted(one) and not _has_begun(one)}


def _to_come(games: Iterable[Game], now: datetime) -> list[int]:
    found = [getattr(game, "meeting", None) for game in games]
    return [meeting.pk for meeting in found if meeting is not None and meeting.at > now]


def _is_accepted(meeting: Meeting) -> bool:
    players = {seat.user_id for seat in meeting.game.seats.all() if seat.kind == Seat.Kind.HUMAN and not seat.has_left}
    return players <= {person.pk for person in meeting.accepted.all()}


def unanswered(seats: Iterable[Seat]) -> list[Meeting]:
    """Return the proposed times that wait for the answer of the person who has these running seats."""
    mine = [seat for seat in seats if seat.game.pace == Game.Pace.RELAXED and not seat.has_left]
    ahead = _to_come((seat.game for seat in mine), timezone.now())
    if not ahead:
        return []
    meetings = Meeting.objects.filter(pk__in=ahead).exclude(accepted__in={seat.user_id for seat in mine})
    return [one for one in meetings.select_related("game__room", "by").order_by("at") if not _has_begun(one)]


def propose(game: Game, person: User, at: datetime, now: datetime | None = None) -> Meeting:
    """Propose a time for the next search. The proposer accepts it; the others hear of it, by mail too, and answer.

    It must not lie after the moment at which the game goes on by itself: everybody would miss that search (R8.7, R8.8).
    """
    now = now or timezone.now()
    _refuse_strangers(game, person)
    if not now < at <= now + LATEST_MEETING:
        raise RoomRefusal("no_such_time")
    limit = _goes_on_at(game)
    if limit is not None and at.timestamp() * 1000 >= limit:
        raise RoomRefusal("after_limit")
    with transaction.atomic():
        last = Meeting.objects.filter(game=game, by=person, proposed__gt=now - MAIL_PROPOSALS_EVERY).exists()
        proposed = {"at": at, "by": person, "head": game.head, "proposed": now}
        meeting, _new = Meeting.objects.update_or_create(game=game, defaults=proposed)
        meeting.accepted.set([person])
        if not last:
            _mail_proposal(game, person, at)
        _tell(game)
    return meeting


def _goes_on_at(game: Game) -> int | None:
    """Return when a game goes on without its players; one that has not begun gives them the time to be ready first."""
    if game.wake_at is None or game.head:
        return game.wake_at
    return game.wake_at + int(game.limits["ready_ms"])


def _mail_proposal(game: Game, person: User, at: datetime) -> None:
    """Write to the other players who have no page open and want mail about this game."""
    seats = game.seats.filter(kind=Seat.Kind.HUMAN, user__closed_at=None, user__turn_mail=True).exclude(user=person)
    for seat in seats.exclude(nudge__muted=True).select_related("user", "game"):
        if seat.user is None or seat.has_left or has_page_open(seat.user.pk):
            continue
        facts = {"name": person.name, "at": at, "link": _link_of(game), "mute": _mute_link(seat)}
        letters.to_person(seat.user, "games/letters/meeting", **facts)


def _link_of(game: Game) -> str:
    with at_root():
        return settings.SITE_URL + rooms.address_of_seat(game)


def _mute_link(seat: Seat) -> str:
    return link_to("games:mute", signing.dumps(seat.pk, salt=SALT))


def accept(game: Game, person: User, at: datetime) -> None:
    """Be there as well at the time that this person saw; accepting twice is accepting."""
    _refuse_strangers(game, person)
    with transaction.atomic():
        meeting = _meetings(game, timezone.now()).select_for_update(no_key=True).first()
        if meeting is None or meeting.at != at:
            raise RoomRefusal("other_time")
        meeting.accepted.add(person)
        _tell(game)


def undecided(meeting: Meeting) -> list[str]:
    """Who has not accepted yet, of those who play on."""
    seats = Seat.objects.filter(game=meeting.game_id, kind=Seat.Kind.HUMAN).exclude(user__in=meeting.accepted.all())
    found = seats.select_related("game", "user").order_by("number")
    return [seat.user.name for seat in found if seat.user and not seat.has_left]


def _refuse_strangers(game: Game, person: User) -> None:
    if game.ended or not plays_on(game, person.pk):
        raise RoomRefusal("no_seat")


def _tell(game: Game) -> None:
    people = game.seats.exclude(user=None).values_list("user", flat=True)
    groups = [news.of_person(person) for person in people if person is not None]
    news.ring_on_commit(*groups, *([news.of_room(game.room.code)] if game.room else []))
