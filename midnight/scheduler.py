"""Beat's scheduler: Celery's, for a clock that may jump and a broker that may be away."""

import logging
from datetime import timedelta
from typing import Any

import redis
from celery.beat import PersistentScheduler, ScheduleEntry, SchedulingError

from midnight import backlog, watchdog

logger = logging.getLogger(__name__)

# Between a job that was sent and the clock's next reading nothing goes back: more than this is a step of the clock.
STEP = timedelta(seconds=1)


class Scheduler(PersistentScheduler):
    """Sends each job of the schedule when its time comes, unless one of its kind still waits in its queue.

    Celery's own trusts its file: after a clock that was an hour ahead every job was last sent in an hour from now, so
    none is due before that, and a restart changes nothing. This one forgets, at its start and before each tick,
    all times that lie ahead.
    """

    # The longest sleep, and so the longest time for which a clock that was set back goes unnoticed.
    max_interval = 10

    def setup_schedule(self) -> None:
        super().setup_schedule()
        self.forget_future()

    def tick(self, *args: Any, **options: Any) -> float:
        watchdog.feed(watchdog.WAITING_SECONDS)
        self.forget_future()
        return float(super().tick(*args, **options))

    def forget_future(self) -> None:
        """Count every job that was last sent in the future as sent now."""
        now = self.app.now()
        ahead = [entry for entry in self.schedule.values() if entry.last_run_at and entry.last_run_at > now + STEP]
        if not ahead:
            return
        for entry in ahead:
            entry.last_run_at = now
        logger.warning(
            "The clock was set back: %d jobs were last sent in the future, and are counted as sent now.", len(ahead)
        )
        # When each is due was worked out by the clock that is no more.
        self._heap = None

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        """Send it, or say in one line why not: its time comes again."""
        try:
            task = str(entry.task)
            if not backlog.waits(str(self.app.amqp.router.route({}, task)["queue"].name), task):
                self.apply_async(entry, producer=producer, advance=False)
        except (SchedulingError, redis.RedisError, OSError) as error:
            logger.error("The job %s could not be sent: %s", entry.task, error)
