"""When which job is done, by beat: seconds between two, or the time of the day."""

from typing import Any

HEARTBEAT_SECONDS = 5

BEAT: dict[str, dict[str, Any]] = {
    "heartbeat": {
        "task": "midnight.tasks.heartbeat",
        "schedule": HEARTBEAT_SECONDS,
        "options": {"expires": HEARTBEAT_SECONDS},
    },
    "games-wake-overdue": {"task": "games.tasks.wake_overdue", "schedule": 2, "options": {"expires": 2}},
    "games-archive": {"task": "games.tasks.archive_finished", "schedule": 60, "options": {"expires": 60}},
    "games-figures": {"task": "games.tasks.take_figures", "schedule": 5, "options": {"expires": 5}},
    "games-dump": {"task": "games.tasks.dump_records", "schedule": 6 * 60 * 60},
    "games-match-waiting": {"task": "games.tasks.match_waiting", "schedule": 5, "options": {"expires": 5}},
    "games-close-stale-rooms": {"task": "games.tasks.close_stale_rooms", "schedule": 60, "options": {"expires": 60}},
    "accounts-sweep": {"task": "accounts.tasks.sweep", "schedule": 60 * 60},
}
