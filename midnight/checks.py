"""What `manage.py check` says of the stack, and `check --deploy` of how it is set up."""

import inspect
import os
from collections.abc import Iterable
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connection
from django.utils.module_loading import autodiscover_modules

from midnight import stack
from midnight.celery import app

OURS = ("midnight.", "games.", "accounts.")


def jobs() -> dict[str, Any]:
    """Our tasks by name."""
    autodiscover_modules("tasks")
    return {name: task for name, task in app.tasks.items() if name.startswith(OURS)}


@register
def every_job_has_its_time(app_configs: Iterable[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """A task without arguments is a sweep or a chore: nobody but beat sends it."""
    known = jobs()
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    sweeps = {name for name, task in known.items() if not inspect.signature(task.run).parameters}
    return [
        *(
            Error(f"CELERY_BEAT_SCHEDULE names {name}, no such task.", id="midnight.E001")
            for name in scheduled - known.keys()
        ),
        *(
            Error(
                f"{name} takes no arguments, so beat must send it.",
                hint="Add it to CELERY_BEAT_SCHEDULE.",
                id="midnight.E002",
            )
            for name in sweeps - scheduled
        ),
    ]


@register(Tags.security, deploy=True)
def production_says_what_it_needs(app_configs: Iterable[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    missing = {
        "W001": (settings.HTTPS, "SITE_URL is no https:// address: passwords travel in the open."),
        "W002": (os.environ.get("SECRET_KEY"), "SECRET_KEY is not set: each machine makes its own."),
        "W003": (
            connection.vendor != "sqlite",
            "DATABASE_URL names no PostgreSQL: SQLite carries one web process, no more.",
        ),
        "W004": (settings.VALKEY_SOCKET is None, "REDIS_URL is not set: only `manage.py up` starts a Valkey."),
        "W005": (
            "smtp" in settings.EMAIL_BACKEND,
            "EMAIL_URL is not set: nobody can confirm an address or reset a password.",
        ),
        "W006": (stack.is_guarded(settings.REDIS_URL), stack.OPEN_REDIS),
    }
    return [Warning(sentence, id=f"midnight.{code}") for code, (fine, sentence) in missing.items() if not fine]
