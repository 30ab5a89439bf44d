"""Careers: what everybody has played in all, counted game by game, so that no page goes through thousands of them.

Results are counted some seconds after a game's end, its figures as soon as there are any, and each of them once: a
mark on the game's row goes with them. A game taken out of the ratings keeps its result, and stays counted; how somebody
left one counts until it is forgiven. A walkover, which ended before its first round did, is no result.

Who locks what: the game's row first, then the careers of its players in the order of their ids. Whoever holds a career
may write its person's rows of opponents.
"""

import logging
import time
from collections.abc import Callable, Collection, Sequence

from django.db import connection, transaction
from django.db.models import Count, F, Max, Min, Q, Sum
from django.db.models.functions import Greatest

from games import one_by_one
from games.models import Career, Figures, Game, Opponent, Proof, Seat, keep_proof

logger = logging.getLogger(__name__)

# One sweep does so many at most, and ends before the next one begins.
MOST = 500
SECONDS = 4
# So many people's careers are held while they are counted again; a SQLite database is free again after some
# milliseconds.
PEOPLE_A_PIECE = 20
PAUSE_SECONDS = 0.02
PLAYED = Q(place__isnull=False, game__rounds__gt=0)
UNIQUE_POINTS = 3
COLUMNS = [field.attname for field in Career._meta.concrete_fields]
MET = ["user_id", "opponent_id", "games", "ahead", "behind"]

Progress = Callable[[int], None]


def count_finished() -> int:
    """Count the games that have ended since; the answer is how many."""
    due = Game.objects.filter(ended__isnull=False, counted=False).order_by("pk")
    return one_by_one.see_to("Game", due.values_list("pk", flat=True)[:MOST], count, seconds=SECONDS)


def count(game_id: int) -> bool:
    """Make one finished game part of its players' careers; False where it is, or still runs."""
    with transaction.atomic():
        if not Game.objects.filter(pk=game_id, ended__isnull=False, counted=False).update(counted=True):
            return False
        seats = _held(game_id)
        for seat in seats:
            _add_result(seat)
        for seat in seats:
            _add_opponents(seat, [other for other in seats if other != seat])
        _add_figures(seats)
    return True


def add_figures(game_id: int) -> None:
    """Count what was just archived. Of a game that is not counted yet, that is left to whoever counts it.

    The caller holds the game's row, and has the figures in the same transaction.
    """
    if Game.objects.filter(pk=game_id, counted=True).exists():
        _add_figures(_held(game_id))


def forgive(seats: Collection[int], *, forgiven: bool) -> None:
    """How people left at these seats counts no longer in their careers, or counts again."""
    with transaction.atomic():
        left = Seat.objects.filter(pk__in=seats)
        list(Game.objects.select_for_update(no_key=True).filter(pk__in=left.values("game")).order_by("pk"))
        left.update(forgiven=forgiven)
        for user_id in sorted({user_id for user_id in left.values_list("user", flat=True) if user_id}):
            _recount_careers(user_id, user_id + 1)


def _held(game_id: int) -> list[Seat]:
    """The seats of people, whose careers are locked until the transaction ends."""
    seats = list(Seat.objects.filter(game=game_id, user__isnull=False).select_related("game").order_by("user"))
    people = [seat.user_id for seat in seats if seat.user_id]
    Career.objects.bulk_create([Career(user_id=user_id) for user_id in people], ignore_conflicts=True)
    list(Career.objects.select_for_update().filter(pk__in=people).order_by("pk"))
    return seats


def _add_result(seat: Seat) -> None:
    added = [] if seat.forgiven else [str(seat.conduct)]
    if _is_played(seat):
        added += ["games", "won"] if seat.place == 1 else ["games"]
    most = Greatest("most_points", (seat.points or 0) if _is_played(seat) else 0)
    Career.objects.filter(pk=seat.user_id).update(**{name: F(name) + 1 for name in added if name}, most_points=most)


def _is_played(seat: Seat) -> bool:
    return seat.place is not None and seat.game.rounds > 0


def _add_opponents(seat: Seat, others: Sequence[Seat]) -> None:
    for other in others:
        if seat.place and other.place and _is_played(seat):
            met = {"user_id": seat.user_id, "opponent_id": other.user_id}
            Opponent.objects.bulk_create([Opponent(**met)], ignore_conflicts=True)
            Opponent.objects.filter(**met).update(
                games=F("games") + 1,
                ahead=F("ahead") + int(seat.place < other.place),
                behind=F("behind") + int(seat.place > other.place),
            )


def _add_figures(seats: Sequence[Seat]) -> None:
    rows = Figures.objects.in_bulk([seat.pk for seat in seats])
    for seat in seats:
        if figures := rows.get(seat.pk):
            added = {figures.plan: 1} if figures.plan else {}
            if _is_played(seat):
                added |= {"completed": figures.completed, "uniques": figures.uniques // UNIQUE_POINTS}
            Career.objects.filter(pk=seat.user_id).update(**{name: F(name) + more for name, more in added.items()})


# All of it again ------------------------------------------------------------------------------------------------------


def prove() -> None:
    """Count every game again, with an alarm where that is not what was kept."""
    if wrong := recount():
        logger.error("%d rows of careers and opponents were not what the games say; they are now", wrong)


def recount(progress: Progress = lambda people: None, *, at_once: int = PEOPLE_A_PIECE) -> int:
    """Count every game again and put right what is kept; the answer is how many rows went or were written, and is kept
    for staff to see."""
    start, last = _first_and_last()
    progress(start - 1)
    changed = 0
    for first in range(start, last + 1, at_once):
        with transaction.atomic():
            changed += _recount_careers(first, first + at_once) + _recount_opponents(first, first + at_once)
        progress(min(at_once, last + 1 - first))
        if connection.vendor == "sqlite":
            time.sleep(PAUSE_SECONDS)
    keep_proof(Proof.Of.CAREERS, changed)
    return changed


def _first_and_last() -> tuple[int, int]:
    """The ids between which everybody lies who sat down or has a career."""
    seats = Seat.objects.aggregate(first=Min("user"), last=Max("user"))
    kept = Career.objects.aggregate(first=Min("pk"), last=Max("pk"))
    ends = [end for end in (*seats.values(), *kept.values()) if end is not None]
    return min(ends, default=1), max(ends, default=0)


def _recount_careers(first: int, end: int) -> int:
    """Put right the careers of the people with these ids, and hold them until the transaction ends."""
    seats = Seat.objects.filter(user__gte=first, user__lt=end, ended__isnull=False)
    careers = Career.objects.filter(pk__gte=first, pk__lt=end)
    new = {*seats.values_list("user", flat=True).distinct()} - {*careers.values_list("pk", flat=True)}
    Career.objects.bulk_create([Career(user_id=user_id) for user_id in sorted(new)], ignore_conflicts=True)
    kept = list(careers.select_for_update().order_by("pk").values_list(*COLUMNS))
    counted = (
        seats.filter(game__counted=True)
        .values_list("user")
        .annotate(
            games=Count("pk", filter=PLAYED),
            won=Count("pk", filter=PLAYED & Q(place=1)),
            most_points=Max("points", filter=PLAYED, default=0),
            completed=Sum("figures__completed", filter=PLAYED, default=0),
            uniques=Sum("figures__uniques", filter=PLAYED, default=0) / UNIQUE_POINTS,
            **{name: Count("pk", filter=Q(conduct=name, forgiven=False)) for name in Seat.Conduct.values},
            **{name: Count("pk", filter=Q(figures__plan=name)) for name in Figures.Plan.values},
        )
    )
    right = {row[0]: row for row in counted}
    nothing = (0,) * (len(COLUMNS) - 1)
    rows = [right.get(row[0], (row[0], *nothing)) for row in kept]
    wrong = [Career(**dict(zip(COLUMNS, row, strict=True))) for row, was in zip(rows, kept, strict=True) if row != was]
    Career.objects.bulk_create(
        wrong, update_conflicts=True, update_fields=COLUMNS[1:], unique_fields=["user"], batch_size=1_000
    )
    return len(wrong)


def _recount_opponents(first: int, end: int) -> int:
    """The same for their opponents; their careers are held."""
    seats = Seat.objects.filter(
        Q(game__seats__number__lt=F("number")) | Q(game__seats__number__gt=F("number")),
        user__gte=first,
        user__lt=end,
        place__isnull=False,
        game__counted=True,
        game__rounds__gt=0,
        game__seats__user__isnull=False,
        game__seats__place__isnull=False,
    )
    right = seats.values_list("user", "game__seats__user").annotate(
        games=Count("pk"),
        ahead=Count("pk", filter=Q(place__lt=F("game__seats__place"))),
        behind=Count("pk", filter=Q(place__gt=F("game__seats__place"))),
    )
    kept = Opponent.objects.filter(user__gte=first, user__lt=end).values_list(*MET)
    wrong = list(kept.difference(right))
    for user_id, opponent_id, *_ in wrong:
        Opponent.objects.filter(user=user_id, opponent=opponent_id).delete()
    sql, params = right.difference(kept).query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {Opponent._meta.db_table} ({', '.join(MET)}) {sql}", params)
        written: int = cursor.rowcount
    return len(wrong) + max(0, written)
