"""What a request costs, in tokens of its household's bucket: an ordinary page costs one."""

import re

STATIC = 0.1  # A page with an empty cache loads some forty files.
PAGE = 1.0
# Lists over all games, whole games played again, exports, password hashing: several times the work of a page.
COSTLY = 3.0
COSTLY_PATHS = re.compile(
    rb"/(?:history|ladders|people|replay|data|api|healthz|metrics)\b"
    rb"|/games/[^/]+/(?:replay|record|story)\b"
    rb"|/account/(?:data|sign-in|sign-up|password)\b"
)


def cost_of(path: bytes) -> float:
    """The tokens that a request for this path takes."""
    if path.startswith(b"/static/"):
        return STATIC
    return COSTLY if COSTLY_PATHS.match(path) else PAGE
