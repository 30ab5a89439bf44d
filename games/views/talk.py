"""The chat of a game or room: one fragment, fetched when the doorbell rings."""

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import User
from games import chat
from games.models import Ignored


@require_http_methods(["GET", "POST"])
@never_cache
def talk(request: HttpRequest, channel: str) -> HttpResponse:
    """What was said, and a form to say something."""
    me = request.user if isinstance(request.user, User) else None
    place = _place(channel, me)
    if request.method == "POST":
        if me is None:
            raise PermissionDenied
        try:
            chat.say(me, place, preset=request.POST.get("preset", ""), words=request.POST.get("words", ""))
        except ValidationError as refused:
            return _panel(request, place, me, " ".join(refused.messages))
    return _panel(request, place, me)


def _place(channel: str, me: User | None) -> chat.Place:
    place = chat.place_of(channel, me.pk if me else None)
    if place is None:
        raise Http404
    return place


def _panel(request: HttpRequest, place: chat.Place, me: User | None, refusal: str = "") -> HttpResponse:
    said = chat.read(place, me) if me is None or me.chat else []
    context = {
        "place": place,
        "me": me,
        "said": [(message, chat.text(message)) for message in said],
        "newest": said[-1].pk if said else 0,
        "presets": chat.PRESETS.items(),
        "free": me is not None and chat.may_write_freely(me),
        "others": _others(place, me) if me else [],
        "refusal": refusal,
        "words": request.POST.get("words", "") if refusal else "",
    }
    return render(request, "games/_talk_panel.html", context, status=422 if refusal else 200)


def _others(place: chat.Place, me: User) -> list[tuple[User, bool]]:
    """The people there besides oneself, and whether one does not hear them."""
    ignored = set(Ignored.objects.filter(person=me).values_list("other", flat=True))
    return [(one, one.pk in ignored) for one in chat.people_at(place) if one.pk != me.pk]


@require_POST
@login_required
def switch(request: HttpRequest, channel: str) -> HttpResponse:
    """Turn one's chat on or off."""
    me = _me(request)
    chat.switch(me, request.POST.get("on") == "yes")
    return _panel(request, _place(channel, me), me)


@require_POST
@login_required
def ignore(request: HttpRequest, pk: int) -> HttpResponse:
    """Mute or block somebody for oneself, or hear them again: in a chat, or on their page."""
    me, other = _me(request), get_object_or_404(User, pk=pk)
    how = request.POST.get("how", "")
    if how in ("mute", "block"):
        chat.ignore(me, other, blocked=how == "block")
    else:
        chat.hear(me, other)
    channel = request.POST.get("channel", "")
    place = chat.place_of(channel, me.pk)
    if place is not None:
        return _panel(request, place, me)
    return redirect("games:lobby") if other.is_guest or not other.is_found else redirect("games:person", other.name)


def _me(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user
