"""The chat of a game or room: one fragment, fetched when the doorbell rings; and what a moderator takes out of it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from accounts.models import User
from games import chat
from games.models import Act, Case, Ignored, Message, What
from games.moderation import acts, roles, sides, visibility
from games.moderation.acts import Why
from games.moderation.forms import HideForm
from games.views.moderators import filled, moderators_only, preview


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
        "may_hide": me is not None and _may_hide(me, place),
        "refusal": refusal,
        "words": request.POST.get("words", "") if refusal else "",
    }
    return render(request, "games/_talk_panel.html", context, status=422 if refusal else 200)


def _others(place: chat.Place, me: User) -> list[tuple[User, bool]]:
    """The people there and who spoke there, besides oneself, and whether one does not hear them."""
    ignored = set(Ignored.objects.filter(person=me).values_list("other", flat=True))
    people = {one.pk: one for one in (*chat.people_at(place), *chat.speakers(place)) if one.pk != me.pk}
    return [(one, pk in ignored) for pk, one in people.items()]


def _may_hide(me: User, place: chat.Place) -> bool:
    """Whether this is a moderator who has no side there."""
    if not roles.is_moderator(me):
        return False
    try:
        sides.refuse_own_channel(me, place.channel)
    except ValidationError:
        return False
    return True


@require_POST
@login_required
def switch(request: HttpRequest, channel: str) -> HttpResponse:
    """Turn one's chat on or off."""
    me = _me(request)
    chat.switch(me, request.POST.get("on") == "yes")
    return _panel(request, _place(channel, me), me)


@require_http_methods(["GET", "POST"])
@login_required
def ignore(request: HttpRequest, pk: int) -> HttpResponse:
    """Mute or block somebody for oneself, or hear them again: in a chat, or on their page."""
    me, other = _me(request), get_object_or_404(User, pk=pk)
    if request.method != "POST":
        # Back from signing in, say.
        return redirect(_page_of(other))
    how = request.POST.get("how", "")
    if how in ("mute", "block"):
        chat.ignore(me, other, blocked=how == "block")
    else:
        chat.hear(me, other)
    channel = request.POST.get("channel", "")
    place = chat.place_of(channel, me.pk)
    if place is not None:
        return _panel(request, place, me)
    return redirect(_page_of(other))


def _page_of(other: User) -> str:
    if not other.has_page:
        return reverse("games:lobby")
    return reverse("games:person", args=[other.name])


@require_http_methods(["GET", "POST"])
@moderators_only
def hide(request: HttpRequest, me: User, pk: int) -> HttpResponse:
    """Hide one message, with a reason: from a case, which the address names, or from beside the message, in a dialog or
    on a page. A message that the moderator may not read is not there for them, to look at or to act on."""
    message = _readable(me, pk)
    form = HideForm(request.POST or None, initial={"case": request.GET.get("case", "")})
    htmx = bool(getattr(request, "htmx", False))
    done = _is_hidden_now(me, message, form)
    within = form.cleaned_data["case"] if done else None
    if done and (within or not htmx):
        messages.success(request, gettext("Done, and written down."))
        address = _page_after(message, within)
        return HttpResponseClientRedirect(address) if htmx else redirect(address)
    name = "games/moderation/_hide.html" if htmx else "games/moderation/hide.html"
    context = {"form": form, "message": message, "said": chat.text(message), "done": done}
    return render(request, name, context, status=422 if form.errors else 200)


def _readable(moderator: User, pk: int) -> Message:
    message = get_object_or_404(Message.objects.select_related("author"), pk=pk)
    if not visibility.may_read(moderator, message):
        raise Http404
    return message


def _is_hidden_now(me: User, message: Message, form: HideForm) -> bool:
    """Do what the form says; False where it says nothing yet, or says why not."""
    if not form.is_valid():
        return False
    said = form.cleaned_data
    try:
        acts.hide(me, message, Why(said["reason"], said["words"], said["case"]))
    except ValidationError as refused:
        form.add_error(None, refused)
        return False
    return True


def _page_after(message: Message, within: Case | None) -> str:
    return (
        reverse("games:case", args=[within.pk])
        if within
        else reverse("games:moderated_person", args=[message.author_id])
    )


@require_POST
@moderators_only
def hide_letter(request: HttpRequest, me: User, pk: int) -> HttpResponse:
    """The letter that hiding this message would send, as the form is filled in now. It changes nothing."""
    message, form = _readable(me, pk), HideForm(request.POST)
    facts: dict[str, Any] = {"what": What.HIDE, "person": message.author, "before": acts.words_of(message)}
    return preview(request, Act(by=me, **filled(form, "reason", "words"), **facts))


def _me(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user
