"""Finished games seen again: those that were played here, and whatever record somebody brings."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from allauth.core import ratelimit
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import get_language, override
from django.utils.translation import gettext as say
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_http_methods, require_safe

from games import names, opening, replaying
from games.limits import costly
from games.models import Game
from games.replaying import Replay
from games.rules.judge import Fault, judge
from games.rules.record import read_record
from games.views.records import too_long

# Several times the longest game that anybody played; what is longer can be judged at home (`manage.py verify`).
MOST_KILOBYTES = 1_024
# Nobody reads more; what is wrong further on often comes of what is wrong before.
MOST_FAULTS = 200

# One record at a time, beside the thread that all other pages need.
_judges = ThreadPoolExecutor(max_workers=1, thread_name_prefix="judge")


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
    context = _context(replaying.prepare(record)) | {"code": code, "opened": opened}
    return render(request, "games/replay.html", context)


@require_http_methods(["GET", "POST"])
@gzip_page
async def judged(request: HttpRequest) -> HttpResponse:
    """Any record that somebody brings: judged, and seen again if it has no fault. Nothing of it is kept."""
    if request.method == "GET":
        return await _answer(request, "games/judged.html", {"most": MOST_KILOBYTES})
    if not await sync_to_async(ratelimit.consume)(request, action="judge"):
        return await _answer(request, "429.html", {}, 429)
    upload = request.FILES.get("record")
    if not isinstance(upload, UploadedFile):
        return await _faulty(request, [Fault(None, None, say("There is no record here: choose a file, or paste one."))])
    if (upload.size or 0) > MOST_KILOBYTES * 1_024:
        too_big = say("This is larger than %(most)s KB, and no record that we know.") % {"most": MOST_KILOBYTES}
        return await _faulty(request, [Fault(None, None, too_big)])
    loop = asyncio.get_running_loop()
    found = await loop.run_in_executor(_judges, _judge, upload.read(), get_language() or "")
    if isinstance(found, Replay):
        return await _answer(request, "games/replay.html", _context(found))
    return await _faulty(request, found)


def _judge(document: bytes, language: str) -> Replay | list[Fault]:
    """The replay of a record, or all that is wrong with it."""
    faults = judge(document)
    if faults:
        return faults
    with override(language):
        return replaying.prepare(read_record(document))


async def _faulty(request: HttpRequest, faults: list[Fault]) -> HttpResponse:
    context = {"most": MOST_KILOBYTES, "faults": faults[:MOST_FAULTS], "more": len(faults) - MOST_FAULTS}
    return await _answer(request, "games/judged.html", context, 422)


async def _answer(request: HttpRequest, template: str, context: dict[str, object], status: int = 200) -> HttpResponse:
    return await sync_to_async(render)(request, template, context, status=status)


def _context(prepared: Replay) -> dict[str, object]:
    return {"replay": prepared, "who": prepared.who, "names": names}
