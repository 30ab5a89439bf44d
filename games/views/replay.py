"""Finished games seen again: those that were played here, and whatever record somebody brings."""

from http import HTTPStatus

from allauth.core import ratelimit
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.safestring import mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as say
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_http_methods, require_safe

from accounts import addresses
from games import history, names, opening, replaying
from games.judging import RETRY_SECONDS, Busy, Judge, Judged
from games.limits import costly
from games.models import Game
from games.replaying import Replay
from games.views.records import too_long

# Several times the longest game that anybody played; what is longer can be judged at home (`manage.py verify`).
MOST_KILOBYTES = 1_024

judge = Judge()


@require_safe
@gzip_page
@costly
def replay(request: HttpRequest, code: str) -> HttpResponse:
    """A game of this site, once it is over."""
    game, opened = get_object_or_404(Game, code=code), opening.find(code)
    if opened is not None and replaying.is_too_long(game):
        return too_long(request, game, opened)
    record = replaying.of_game(game)
    if record is None:
        return render(request, "games/replay_not_yet.html", {"game": game}, status=409)
    context = _context(replaying.prepare(record)) | {
        "code": code,
        "opened": opened,
        "is_indexed": history.is_indexed(game),
    }
    return render(request, "games/replay.html", context)


@require_http_methods(["GET", "POST"])
async def judged(request: HttpRequest) -> HttpResponse:
    """Any record that a visitor brings: judged, and seen again if it has no fault. Nothing of it is kept."""
    if request.method == "GET":
        return await _answer(request, "games/judged.html", {"most": MOST_KILOBYTES})
    if not await sync_to_async(ratelimit.consume)(request, action="judge"):
        return await _answer(request, "429.html", {}, HTTPStatus.TOO_MANY_REQUESTS)
    upload = request.FILES.get("record")
    if not isinstance(upload, UploadedFile):
        return await _faulty(request, say("There is no record here: choose a file, or paste one."))
    if (upload.size or 0) > MOST_KILOBYTES * 1_024:
        too_big = say("This is larger than %(most)s KB, and no record that we know.") % {"most": MOST_KILOBYTES}
        return await _faulty(request, too_big)
    household = addresses.household(addresses.of_request(request))
    try:
        found = await judge.ask(upload.read(), get_language() or "", household)
    except Busy:
        return await _busy(request)
    return await _told(request, found)


async def _told(request: HttpRequest, found: Judged) -> HttpResponse:
    """The page about a record that was judged."""
    if found.kind == "drawn":
        # Drawn by a template of ours, which has escaped what the record says.
        return await _answer(request, "games/replay.html", {"drawn": mark_safe(found.page)})  # noqa: S308
    if found.kind == "faulty":
        return await _faulty(request, *found.faults, more=found.all_faults - len(found.faults))
    if found.kind == "large":
        return await _faulty(request, say("This record has no fault, but it is too large to be shown as a replay."))
    return await _faulty(
        request, say("This record takes more work than this page does for one. “manage.py verify” judges it at home.")
    )


async def _faulty(request: HttpRequest, *faults: str, more: int = 0) -> HttpResponse:
    context = {"most": MOST_KILOBYTES, "faults": faults, "more": more}
    return await _answer(request, "games/judged.html", context, HTTPStatus.UNPROCESSABLE_ENTITY)


async def _busy(request: HttpRequest) -> HttpResponse:
    refusal = say("Other records are being judged right now. Please try again in a few seconds.")
    context = {"most": MOST_KILOBYTES, "busy": refusal}
    response = await _answer(request, "games/judged.html", context, HTTPStatus.SERVICE_UNAVAILABLE)
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


async def _answer(request: HttpRequest, template: str, context: dict[str, object], status: int = 200) -> HttpResponse:
    return await sync_to_async(_page)(request, template, context, status)


@gzip_page
def _page(request: HttpRequest, template: str, context: dict[str, object], status: int) -> HttpResponse:
    """Drawn and packed beside the loop that serves races."""
    return render(request, template, context, status=status)


def _context(prepared: Replay) -> dict[str, object]:
    return {"replay": prepared, "who": prepared.who, "names": names}
