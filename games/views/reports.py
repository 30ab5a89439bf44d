"""What everybody may do for a fair room: report somebody, read one's letters, appeal."""

from dataclasses import replace
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts import signing
from accounts.models import User
from games import chat
from games.models import Act, Game, Letter, Message
from games.moderation import appeals, letters
from games.moderation import reports as moderation_reports
from games.moderation.forms import AppealForm, ReportForm, ReportGameForm
from games.moderation.reports import Moment
from games.moderation.statements import statement_of


def _me(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


@never_cache
@login_required
def report(request: HttpRequest, pk: int) -> HttpResponse:
    """Report somebody: a page, or the inside of a dialog; the moment comes along in the address."""
    me, about = _me(request), get_object_or_404(User, pk=pk, deleted_at=None)
    moment = _moment(request, me, about)
    if not about.is_found and moment == Moment():
        raise Http404
    address = _address(reverse("games:report", args=[pk]), moment)
    return _report(request, me, ReportForm(request.POST or None), moment, address, about)


@never_cache
@login_required
def report_game(request: HttpRequest, code: str) -> HttpResponse:
    """Report somebody in a game, who is chosen there; the same two ways."""
    me, game = _me(request), get_object_or_404(Game, code=code)
    people = User.objects.filter(seats__game=game, deleted_at=None).exclude(pk=me.pk).order_by("seats__number")
    if not people:
        return render(request, _template(request), {"without_others": True})
    moment = _at(request, Moment(game))
    address = _address(reverse("games:report_game", args=[code]), replace(moment, game=None))
    return _report(request, me, ReportGameForm(request.POST or None, people=people), moment, address)


def _report(
    request: HttpRequest, me: User, form: ReportForm, moment: Moment, address: str, about: User | None = None
) -> HttpResponse:
    """The form, or that a report was filed; where nobody is named, the form asks who is meant."""
    htmx = bool(getattr(request, "htmx", False))
    said = chat.text(moment.message) if moment.message else ""
    context = {"form": form, "about": about, "moment": moment, "said": said, "done": False, "address": address}
    if form.is_valid():
        filled = form.cleaned_data
        try:
            moderation_reports.file_report(me, about or filled["about"], filled["reason"], filled["words"], moment)
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            context["done"] = True
            if not htmx:
                messages.success(request, gettext("Thank you. A moderator looks at it, and you will hear of it."))
                return redirect("games:lobby")
    return render(request, _template(request), context, status=422 if form.errors else 200)


def _template(request: HttpRequest) -> str:
    is_part = bool(getattr(request, "htmx", False))
    return "games/moderation/_report.html" if is_part else "games/moderation/report.html"


def _moment(request: HttpRequest, me: User, about: User) -> Moment:
    """The game or message that the address names: a game where this person sits or spoke, a message of theirs that
    whoever reports can read.

    Anything else is left out, so that nobody makes a report look urgent by the code of a game of others, and nobody
    learns by its number what was said among others or was hidden.
    """
    code, number = request.GET.get("game", ""), request.GET.get("message", "")
    game = Game.objects.filter(code=code).first() if code else None
    if game is not None and not _was_there(about, game):
        game = None
    message = Message.objects.filter(pk=int(number), author=about).first() if _is_number(number) else None
    if message is not None and not chat.may_read(message, me.pk):
        message = None
    return _at(request, Moment(game, message))


def _at(request: HttpRequest, moment: Moment) -> Moment:
    """The same at the event that the address names, or as it is now."""
    seq = request.GET.get("seq", "")
    named = replace(moment, seq=int(seq) if _is_number(seq) else None)
    return replace(named, seq=named.in_the_log())


def _is_number(said: str) -> bool:
    return said.isascii() and said.isdecimal() and len(said) < 19


def _address(path: str, moment: Moment) -> str:
    """Where the report goes: it names the moment at which somebody began to write it."""
    named = {
        "game": moment.game and moment.game.code,
        "seq": moment.seq,
        "message": moment.message and moment.message.pk,
    }
    query = urlencode({name: value for name, value in named.items() if value is not None})
    return path + (f"?{query}" if query else "")


def _was_there(person: User, game: Game) -> bool:
    spoke = Message.objects.filter(channel=chat.channel_of(game), author=person)
    return game.seats.filter(user=person).exists() or spoke.exists()


@require_safe
@never_cache
def letter_list(request: HttpRequest) -> HttpResponse:
    """What the moderators wrote to oneself; whoever is suspended has proved at the door who they are."""
    me = _whoever_reads(request)
    if me is None:
        return redirect_to_login(request.get_full_path())
    told = letters.of(me, request.GET.get("after", ""))
    rows = letters.in_words(told.rows, me)
    letters.mark_read(told.rows)
    return render(request, "games/moderation/letters.html", {"rows": rows, "more": told.more})


@never_cache
def appeal(request: HttpRequest, pk: int) -> HttpResponse:
    """Answer to an act."""
    me = _whoever_reads(request)
    if me is None:
        return redirect_to_login(request.get_full_path())
    told = Letter.objects.filter(person=me, act__isnull=False).exclude(kind=Letter.Kind.UNDONE)
    act = get_object_or_404(Act, pk=pk, pk__in=told.values("act"))
    letter = told.select_related("act").filter(act=act).earliest("pk")
    form = AppealForm(request.POST or None)
    if form.is_valid():
        try:
            appeals.appeal(act, me, form.cleaned_data["words"])
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            messages.success(request, gettext("Another moderator will look at it."))
            return redirect("games:letters")
    context = {"form": form, "statement": statement_of(letter)}
    return render(request, "games/moderation/appeal.html", context, status=422 if form.errors else 200)


def _whoever_reads(request: HttpRequest) -> User | None:
    if isinstance(request.user, User):
        return request.user
    return signing.suspended_person(request)
