"""What workers do for games: fetch, call one function, end. Each may run twice, or late."""

from celery import shared_task
from django.utils import timezone

from games import archive, dumps, gauges, sweep


@shared_task
def wake_overdue() -> None:
    """Every few seconds: whatever no web process looks after."""
    sweep.wake_overdue()


@shared_task
def archive_finished() -> None:
    """Every minute: games that ended some minutes ago become records."""
    archive.archive_finished()


@shared_task
def take_figures() -> None:
    """Every few seconds: what administrators' figures are drawn from."""
    gauges.take()


@shared_task
def dump_records() -> None:
    """Every few hours: last month's public records as one file, as soon as all of them are archived."""
    dumps.dump_last_month(timezone.now().date())
