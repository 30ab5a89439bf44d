"""Lists of finished games."""

from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from games import dumps, history
from games.history import Cursor, HistoryForm, Page, WrongCursor


@require_safe
def games(request: HttpRequest) -> HttpResponse:
    """Games by player, opponent, result, pace, rulebook, length and date; everything asked for is in the address, and
    what is left open is not: a form sends its empty fields along, so its address is redirected to the short one."""
    asked_for = [(name, value) for name, values in request.GET.lists() for value in values]
    filled = [(name, value) for name, value in asked_for if value.strip()]
    if filled != asked_for:
        return redirect(reverse("games:history") + (f"?{urlencode(filled)}" if filled else ""))
    form = HistoryForm(request.GET, request.user.pk)
    if not form.is_valid():
        return render(request, "games/history.html", {"form": form, "page": None}, status=422)
    asked = form.asked()
    context = {"form": form, "asked": asked, "page": _page(request, asked), "filters": _filters(request)}
    return render(request, "games/history.html", context)


def _page(request: HttpRequest, asked: dict[str, object]) -> Page:
    try:
        after, before = (read_cursor(request.GET.get(name, "")) for name in ("after", "before"))
    except WrongCursor:
        raise Http404 from None
    return history.page(asked, viewer=request.user.pk, after=after, before=before)


def read_cursor(text: str) -> Cursor | None:
    return Cursor.read(text) if text else None


def _filters(request: HttpRequest) -> str:
    """What is asked for, as an address says it, without the place in the list."""
    query = request.GET.copy()
    for name in list(query):
        if name not in HistoryForm.base_fields:
            del query[name]
    return query.urlencode()


@require_safe
def data(request: HttpRequest) -> HttpResponse:
    """What of all this is there for programs: the read API, and every month's records."""
    return render(request, "games/data.html", {"dumps": dumps.all_dumps(), "limit": settings.API_LIMIT})
