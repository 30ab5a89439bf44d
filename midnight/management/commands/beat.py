"""The one process that sends jobs when their time comes."""

from typing import Any

from celery.signals import beat_init
from django.conf import settings
from django.core.management.base import BaseCommand

from midnight import stack, watchdog
from midnight.celery import app


class Command(BaseCommand):
    help = "Send the jobs of CELERY_BEAT_SCHEDULE when their time comes. Run exactly one of these."

    def handle(self, *_: Any, **__: Any) -> None:
        stack.require_redis()
        watchdog.start()
        beat_init.connect(say_ready)
        app.Beat(schedule=str(settings.VAR / "beat"), scheduler="midnight.scheduler:Scheduler", quiet=True).run()


def say_ready(**_: object) -> None:
    watchdog.notify(watchdog.READY)
