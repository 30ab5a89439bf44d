"""Which pages the site has: found in its URLs, so that no new page escapes the tests."""

from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

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
