"""The public list of what was agreed on before each game: a page about it, and its files."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from games import fairness, limits

DAYS_A_PAGE = 31
# So many lines come without asking for a day: more than enough for one game and those around it.
MOST_LINES = 100
# Between two pieces of a file, so that no reader fills the memory of this process.
PAUSE_SECONDS = 0.03
TEXT = "text/plain; charset=us-ascii"
A_DAY = 24 * 60 * 60


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    """What the list is for, where it stands now, and the files of the last days; `before` leads to earlier ones."""
    last, first = fairness.last_line(), fairness.first_line()
    latest = _day(request.GET["before"]) - timedelta(days=1) if "before" in request.GET else _today()
    oldest = first.day if first else latest
    number = min(DAYS_A_PAGE, max(0, (latest - oldest).days + 1))
    days = [latest - timedelta(days=back) for back in range(number)]
    earlier = days[-1] if days and days[-1] > oldest else None
    return render(request, "games/fairness.html", {"last": last, "days": days, "earlier": earlier})


@require_safe
def lines(request: HttpRequest, number: int) -> HttpResponse:
    """Some lines from this number on."""
    if not fairness.has_line(number):
        raise Http404
    return HttpResponse(fairness.lines_as_text(number, MOST_LINES), content_type=TEXT)


@require_safe
def day(request: HttpRequest, day: str) -> HttpResponseBase:
    """The file of a day, which stays as it is once the day is over."""
    wanted = _day(day)
    if wanted > _today():
        raise Http404
    if limits.take("fairness", request, settings.API_LIMIT) is None:
        return HttpResponse(status=429, headers={"Retry-After": str(limits.seconds_to_wait())})
    headers = {
        "Content-Disposition": f'attachment; filename="midnight-list-{wanted}.txt"',
        "Cache-Control": f"max-age={A_DAY}" if wanted < _today() else "no-cache",
    }
    return StreamingHttpResponse(_pieces(wanted), content_type=TEXT, headers=headers)


async def _pieces(wanted: date) -> AsyncIterator[str]:
    pieces = fairness.day_as_text(wanted)
    while piece := await sync_to_async(lambda: next(pieces, ""))():
        yield piece
        await asyncio.sleep(PAUSE_SECONDS)


def _today() -> date:
    return datetime.now(UTC).date()


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Http404 from None
