"""The answers to what is refused at the edge: whole responses, made once, in all languages of the site."""

import json
from functools import cache
from html import escape
from http import HTTPStatus

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext_lazy as say

from midnight.edge.admission import Refusal

SENTENCES = {
    400: say("This request makes no sense to us."),
    408: say("Your request took too long to arrive. Please try again."),
    413: say("That is larger than this page can take."),
    429: say("That was too much at once. Please wait a moment and try again."),
    503: say("The house is full at the moment. Please try again shortly."),
}
API_CODES = {400: "malformed", 408: "too_slow", 413: "too_large", 429: "too_fast", 503: "away"}


def answer(refusal: Refusal, method: bytes, path: bytes) -> bytes:
    """The bytes of the whole response: JSON for programs that use the API, a page for browsers."""
    whole = _answer(refusal.status, refusal.retry_after, path.startswith(b"/api/"))
    return whole[: whole.index(b"\r\n\r\n") + 4] if method == b"HEAD" else whole


@cache
def _answer(status: int, retry_after: int, for_program: bool) -> bytes:
    body = _json(status) if for_program else _page(status)
    headers = {
        "Content-Type": "application/json" if for_program else "text/html; charset=utf-8",
        "Content-Length": len(body),
        "Content-Security-Policy": "default-src 'none'",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Connection": "close",
    }
    if retry_after:
        headers["Retry-After"] = retry_after
    if for_program:
        headers["Access-Control-Allow-Origin"] = "*"
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{head}\r\n".encode() + body


def _json(status: int) -> bytes:
    with translation.override("en"):
        message = str(SENTENCES[status])
    return json.dumps({"error": {"code": API_CODES[status], "message": message}}).encode()


def _page(status: int) -> bytes:
    said = []
    for language, _ in settings.LANGUAGES:
        with translation.override(language):
            said.append(f'<p lang="{language}">{escape(str(SENTENCES[status]))}</p>')
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Midnight</title>'
    return (head + "\n".join(said) + "\n").encode()
