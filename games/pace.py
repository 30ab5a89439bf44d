"""The relaxed pace: who owes a turn, who hears of it by mail, and when everybody is there for a search."""

from django.core.cache import cache
from redis import RedisError

# A page with a person signed in says that it is open so often, and is believed for so long.
BEAT_SECONDS = 20
OPEN_SECONDS = 60


def note_page(person_id: int | None) -> None:
    """Somebody has a page of this site open."""
    try:
        cache.set(_page(person_id), 1, OPEN_SECONDS)
    except (RedisError, OSError):
        return


def has_page_open(person_id: int) -> bool:
    """Whether a page of this person's was heard of lately; True where nobody can tell."""
    try:
        return cache.get(_page(person_id)) is not None
    except (RedisError, OSError):
        return True


def _page(person_id: int | None) -> str:
    return f"page:{person_id}"
