"""The page of one game."""

import re

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.utils.crypto import get_random_string
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import EndedSession
from games import allowance, names, pace, rules, showing, tables
from games.frames import CloseCode
from games.models import Game, Meeting
from games.sentences import say
from games.table import AN_ID, COMMAND_ID, Table

# On every answer with a piece of the table: how new it is. A page drops what is older than what it shows, and says with
# what it asks how far it has heard that the table is: perhaps from another process.
SEQ = "Midnight-Seq"
HEARD = re.compile("[0-9]{1,9}")


@require_safe
@never_cache
async def game(request: HttpRequest, code: str) -> HttpResponse:
    """The page of a game, for players and for whoever watches."""
    table = await _table(code)
    shown = await _show(table, request)
    context = _context(table, shown) | {"who": showing.names_of(table.opened)}
    if table.opened.pace == "relaxed":
        context |= {"meeting": await sync_to_async(_meeting)(table.opened.game_id)}
    # The chat and the exchange are fetched at once and have forms: with a cookie from each, one form would fail.
    get_token(request)
    return await sync_to_async(render)(request, "games/game.html", context)


def _meeting(game_id: int) -> Meeting | None:
    game = Game.objects.filter(pk=game_id).first()
    return None if game is None else pace.meeting_of(game)


@require_http_methods(["GET", "POST"])
@never_cache
async def exchange(request: HttpRequest, code: str) -> HttpResponse:
    """The exchange or the end of a game as one seat sees it; a form posted here is a command, as over the socket."""
    table = await _table(code)
    table.catch_up(_heard(request))
    refusal = await _play(table, request) if request.method == "POST" else ""
    shown = await _show(table, request)
    if request.method == "POST" and not request.htmx and not refusal:  # type: ignore[attr-defined]
        return redirect("games:game", code)
    context = _context(table, shown) | {"refusal": refusal}
    response = await sync_to_async(render)(request, "games/_exchange.html", context, status=422 if refusal else 200)
    response[SEQ] = 0 if shown is None else shown.sight["seq"]
    return response


async def _table(code: str) -> Table:
    table = await (await tables.here()).table(code)
    if table is None:
        raise Http404
    return table


def _heard(request: HttpRequest) -> int:
    """How far the table is as the page has heard; 0 where it says nothing that can be."""
    said = request.headers.get(SEQ, "")
    return int(said) if HEARD.fullmatch(said) else 0


async def _show(table: Table, request: HttpRequest) -> showing.Showing | None:
    """The table as whoever asks may see it; None before its first event."""
    state = await table.look()
    seat = table.opened.seat_of(request.user.pk)
    return None if state is None else showing.show(table.opened, state, table.this_round, seat)


def _context(table: Table, shown: showing.Showing | None) -> dict[str, object]:
    bots = [sitter.strength for sitter in table.opened.sitters if sitter.kind == "bot"]
    return {
        "opened": table.opened,
        "shown": shown,
        "names": names,
        "bots": len(bots),
        "strength": bots[0] if bots else "",
        "command_id": _command_id(),
    }


def _command_id() -> str:
    """One for each page that is handed out: a form that is sent twice counts once."""
    return f"form-{get_random_string(12)}"


async def _play(table: Table, request: HttpRequest) -> str:
    """Do what the form asks for; the answer is why not, in a sentence, or nothing."""
    language = get_language() or ""
    seat = table.opened.seat_of(request.user.pk)
    if seat is None:
        return say("no_seat", {}, language)
    # Forms are commands too (R8.5).
    if not table.allowance(seat).take():
        return say("flood", {"most": allowance.MOST_COMMANDS}, language)
    try:
        command = showing.read_command(request.POST.get("command", ""))
    except rules.Malformed as wrong:
        return say(wrong.code, wrong.values, language)
    command_id = request.POST.get("id") or _command_id()
    if not COMMAND_ID.fullmatch(command_id):
        return say("unreadable", {"problem": f'"id" must be {AN_ID}'}, language)
    asking = Asking(seat, language)
    table.play(asking, seat, command, command_id)
    return asking.refusal if await table.settle() else say("fault", {}, language)


class Asking:
    """A form as a table sees it: a page that waits for what becomes of its one command and for nothing else."""

    user_id: int | None = None
    seat: int | None
    key = ""
    joined_ms = 0
    browser_session: str | None = None

    def __init__(self, seat: int, language: str) -> None:
        self.seat, self.language = seat, language
        self.refusal = ""

    async def tell(self, frame: str) -> None:
        pass

    async def refuse(self, command_id: str, code: str, values: dict[str, int | str], head: int) -> None:
        self.refusal = say(code, values, self.language)

    async def notify(self, code: str) -> None:
        self.refusal = say(code, {}, self.language)

    async def end(self, code: CloseCode, notice: str) -> None:
        pass

    def is_quiet(self) -> bool:
        return False

    def is_of(self, ended: EndedSession) -> bool:
        return False
