"""When which job is done, by beat: seconds between two, or the time of the day.

None expires: a worker's clock may differ from beat's, and beat sends none of which one still waits (scheduler.py).
"""

from typing import Any

from celery.schedules import crontab

HEARTBEAT_SECONDS = 5

BEAT: dict[str, dict[str, Any]] = {
    "heartbeat": {"task": "midnight.tasks.heartbeat", "schedule": HEARTBEAT_SECONDS},
    "games-wake-overdue": {"task": "games.tasks.wake_overdue", "schedule": 2},
    "games-archive": {"task": "games.tasks.archive_finished", "schedule": 60},
    "games-count": {"task": "games.tasks.count_finished", "schedule": 5},
    "games-recount-careers": {"task": "games.tasks.recount_careers", "schedule": crontab(hour=4, minute=50)},
    "games-forget-talk": {"task": "games.tasks.forget_talk", "schedule": 24 * 60 * 60},
    "games-look-over": {"task": "games.tasks.look_over", "schedule": 10 * 60},
    "games-weigh-cases": {"task": "games.tasks.weigh_cases", "schedule": 60},
    "games-figures": {"task": "games.tasks.take_figures", "schedule": 5},
    "games-dump": {"task": "games.tasks.dump_records", "schedule": 6 * 60 * 60},
    "games-match-waiting": {"task": "games.tasks.match_waiting", "schedule": 5},
    "games-mail": {"task": "games.tasks.write_to_the_awaited", "schedule": 60},
    "games-close-stale-rooms": {"task": "games.tasks.close_stale_rooms", "schedule": 60},
    "games-rate": {"task": "games.tasks.rate_finished", "schedule": 5},
    "games-replay-ladders": {"task": "games.tasks.replay_ladders", "schedule": 60},
    "games-milestones": {"task": "games.tasks.set_milestones", "schedule": 60},
    "games-recount-ladders": {"task": "games.tasks.recount_ladders", "schedule": crontab(hour=4, minute=20)},
    "accounts-sweep": {"task": "accounts.tasks.sweep", "schedule": 60 * 60},
}
