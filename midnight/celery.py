"""The Celery application; its tasks live in the apps. Logs are Django's, with the id of the request that asked."""

import os
from typing import Any

from celery import Celery, signals

from midnight.logs import new_id, request_id

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "midnight.settings")

app = Celery("midnight")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.setup_logging.connect
def leave_logging_alone(**_: Any) -> None:
    """That somebody listens keeps Celery from replacing what Django's settings say."""


@signals.before_task_publish.connect
def send_request_id(headers: dict[str, Any], **_: Any) -> None:
    headers["request_id"] = request_id.get() or new_id()


@signals.task_prerun.connect
def take_request_id(task: Any, **_: Any) -> None:
    request_id.set(task.request.get("request_id") or new_id())


@signals.task_postrun.connect
def forget_request_id(**_: Any) -> None:
    request_id.set("")


@signals.worker_ready.connect
def beat_at_once(**_: Any) -> None:
    """The worker is known to work from its first second."""
    app.send_task("midnight.tasks.heartbeat")
