"""What workers do for games: fetch, call one function, end. Each may run twice, or late."""

from celery import shared_task
from django.utils import timezone

from games import archive, careers, chat, dumps, gauges, ladder, pace, quick, stale, sweep
from games.moderation import looking, reports


@shared_task
def wake_overdue() -> None:
    """Every few seconds: whatever no web process looks after."""
    sweep.wake_overdue()


@shared_task
def archive_finished() -> None:
    """Every minute: games that ended some minutes ago become records."""
    archive.archive_finished()


@shared_task
def count_finished() -> None:
    """Every few seconds: games that ended become part of their players' careers."""
    careers.count_finished()


@shared_task
def recount_careers() -> None:
    """Every night: the proof of the careers."""
    careers.prove()


@shared_task
def look_over() -> None:
    """Every few minutes: what stands out in the last games of those who have played."""
    looking.look_over()


@shared_task
def weigh_cases() -> None:
    """Every minute: cases that waited less as long as a game in them ran."""
    reports.weigh_ended()


@shared_task
def take_figures() -> None:
    """Every few seconds: what administrators' figures are drawn from."""
    gauges.take()


@shared_task
def dump_records() -> None:
    """Every few hours: each past month's public records as one file, as soon as all of them are archived."""
    dumps.dump_due(timezone.now().date())


@shared_task
def match_waiting() -> None:
    """Every few seconds: whoever fits together in the queue, should no page of theirs have seen it."""
    quick.sweep()


@shared_task
def close_stale_rooms() -> None:
    """Every minute: rooms that nobody comes to any more; owners who are gone."""
    stale.sweep()


@shared_task
def rate_game(game_id: int) -> None:
    """A ranked game has ended."""
    ladder.rate_game(game_id)


@shared_task
def rate_finished() -> None:
    """Every few seconds: ended games that nobody was asked to rate."""
    ladder.rate_finished()


@shared_task
def replay_ladders() -> None:
    """Every minute, and when a game was voided: ladders that are to be replayed."""
    ladder.replay()


@shared_task
def recount_ladders() -> None:
    """Every night: the proof of the ratings."""
    ladder.recount_all()


@shared_task
def set_milestones() -> None:
    """Every minute: from where the places on long boards are counted."""
    ladder.set_milestones(timezone.now())


@shared_task
def write_to_the_awaited() -> None:
    """Every minute: whose turn it is in a relaxed game, and who does not see it."""
    pace.send_due()


@shared_task
def forget_talk() -> None:
    """Daily: what was said long ago."""
    chat.forget_old()
