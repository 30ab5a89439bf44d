"""The Celery application; its tasks live in the apps. Logs are Django's, with the id of the request that asked."""

import os
from typing import Any

import kombu
from celery import Celery, signals
from celery.app.amqp import AMQP

from midnight.logs import new_id, request_id

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "midnight.settings")


class Broker(kombu.Connection):
    """Worker's and beat's connection to the broker: tried again after half a second, and then each three at most.

    Celery's own pauses grow to half a minute, for which a broker that is back would find no worker.
    """

    def _ensure_connection(self, *args: Any, **options: Any) -> Any:
        pauses = {"interval_start": 0.5, "interval_step": 0.5, "interval_max": 3}
        return super()._ensure_connection(*args, **pauses | options)


class Amqp(AMQP):
    Connection = Broker


app = Celery("midnight", amqp=Amqp)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.setup_logging.connect
def leave_logging_alone(**_: Any) -> None:
    """Keep Celery from replacing the logging of Django's settings, which a receiver of this signal does."""


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
