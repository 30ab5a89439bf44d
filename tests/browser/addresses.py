"""Which pages the site has: found in its URLs, so that no new page escapes the tests."""

from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver
from playwright.async_api import Page

from tests.games.everybody import House, address, doors

# Not pages: a worker's code, a word to a machine, files.
NO_PAGES = {
    "service-worker",
    "healthz",
    "metrics",
    "accounts:export",
    "mfa_download_recovery_codes",
    "mfa_login_webauthn",
    "games:api",
    "games:api_games",
    "games:api_players",
    "games:api_dumps",
    "games:turns",
}
# Nor are these, for which the addresses of a house have a name: fragments of pages too.
NO_DOORS = ("games:api", "games:record", "games:rating", "games:exchange", "games:turns", "accounts:export")


def walk(patterns: list[URLPattern | URLResolver], before: str = "", space: str = "") -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        address = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield address, f"{space}{pattern.name}"
        elif pattern.app_name != "admin":
            inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from walk(pattern.url_patterns, address, inner)


def pages() -> list[str]:
    """Every address that needs no argument; some send one elsewhere."""
    return [
        f"/{address}"
        for address, name in walk(get_resolver().url_patterns)
        if name not in NO_PAGES and not set("<>()^$").intersection(address)
    ]


def page_addresses(there: House) -> list[str]:
    """Every address that may be a page, with the things of that house in it; some are pages for some people only."""
    return [
        address(door, there)
        for door in doors()
        if door.name and "/" not in door.name and not door.name.startswith(("admin", *NO_DOORS))
    ]


async def sort_by_role(wanted: list[str], pages: dict[str, Page]) -> dict[str, list[str]]:
    """Sort pages by the first role that is shown them; leave out what leads elsewhere or is no page."""
    found: dict[str, list[str]] = {role: [] for role in pages}
    for where in dict.fromkeys(wanted):
        for role, page in pages.items():
            answer = await page.request.get(where, max_redirects=0)
            if answer.status == 200 and (await answer.text()).lstrip().startswith("<!doctype html>"):
                found[role].append(where)
                break
    return found
