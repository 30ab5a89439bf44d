"""The site's own jobs."""

from celery import shared_task

from midnight import health


@shared_task
def heartbeat() -> None:
    """Says that beat sends, Redis carries and the worker works."""
    health.beat()
