"""Links that leave the site, in letters and data: made of SITE_URL alone, whatever request is being answered.

Django puts a prefix before every address that it makes while it answers a request, and the server takes that prefix
from outside. What goes to other people must not depend on it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.urls import get_script_prefix, reverse, set_script_prefix


@contextmanager
def at_root() -> Iterator[None]:
    """Within, `reverse` and `{% url %}` make addresses without a prefix."""
    prefix = get_script_prefix()
    set_script_prefix("/")
    try:
        yield
    finally:
        set_script_prefix(prefix)


def link_to(view: str, *args: Any, **kwargs: Any) -> str:
    """The whole address of a page."""
    with at_root():
        return settings.SITE_URL + reverse(view, args=args, kwargs=kwargs)
