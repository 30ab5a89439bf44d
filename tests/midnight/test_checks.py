"""What `manage.py check` finds, and `check --deploy` with production's settings."""

import secrets

from celery import shared_task
from django.core.checks import run_checks
from pytest_django import Settings

from midnight.celery import app
from tests.midnight.running import manage

PRODUCTION = {
    "SITE_URL": "https://play.example.org",
    "SECRET_KEY": secrets.token_urlsafe(50),
    "DATABASE_URL": "postgres://midnight:secret@localhost/midnight",
    "REDIS_URL": "redis://:secret@localhost:6379/0",
    "EMAIL_URL": "smtp://midnight:secret@mail.example.org:587?tls=yes",
}


def ids() -> set[str]:
    return {message.id or "" for message in run_checks()}


def test_production_settings_leave_nothing_to_say() -> None:
    done = manage("check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


def test_what_production_lacks_is_named() -> None:
    done = manage("check", "--deploy")
    for number, name in enumerate(PRODUCTION, start=1):
        assert f"(midnight.W00{number}) {name} " in done.stderr


def test_a_redis_without_a_password_is_named() -> None:
    done = manage("check", "--deploy", **PRODUCTION | {"REDIS_URL": "redis://localhost:6379/0"})
    assert "(midnight.W006) REDIS_URL names no password" in done.stderr


def test_every_job_exists_and_has_its_time() -> None:
    assert not {"midnight.E001", "midnight.E002"} & ids()


def test_a_schedule_that_names_no_task_is_an_error(settings: Settings) -> None:
    settings.CELERY_BEAT_SCHEDULE = {
        **settings.CELERY_BEAT_SCHEDULE,
        "x": {"task": "games.tasks.nothing", "schedule": 1},
    }
    assert "midnight.E001" in ids()


def test_a_sweep_that_nobody_sends_is_an_error() -> None:
    @shared_task(name="games.tasks.forgotten")
    def forgotten() -> None: ...

    assert app.tasks["games.tasks.forgotten"] is not None
    try:
        assert "midnight.E002" in ids()
    finally:
        app.tasks.pop("games.tasks.forgotten")
