"""What goes for every page that somebody signed in asks for."""

import time
from collections.abc import Callable
from typing import Any

from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, resolve_url
from django.utils import timezone, translation
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from accounts import addresses, devices, duties, staff_sessions
from accounts.models import User

NOTED_EVERY = 10 * 60
# A browser that speaks IPv4 and IPv6 in turn is not written down at each request.
MOVED_EVERY = 30


class PersonMiddleware(MiddlewareMixin):
    """Their language, whether they may be here at all, and what they have to do before anything else."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        user = request.user
        if isinstance(user, AnonymousUser):
            return None
        if user.is_gone:
            # Their sessions have ended with that; this one was being made in the same moment.
            logout(request)
            return redirect("account_login")
        if staff_sessions.is_over(request, user):
            return _sign_in_again(request)
        if user.language:
            translation.activate(user.language)
            request.LANGUAGE_CODE = translation.get_language() or ""
        note_presence(request, user)
        return None

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Remember the device of a person who is signed in when the page leaves."""
        user = getattr(request, "user", None)
        is_page = response.get("Content-Type", "").startswith("text/html")
        if not is_page or not isinstance(user, User) or user.is_guest or user.is_gone:
            return response
        if devices.of(request, user) is None:
            devices.remember(request, response, user)
        return response

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponseBase], args: Any, kwargs: Any
    ) -> HttpResponse | None:
        user = request.user
        if isinstance(user, AnonymousUser) or not (duty := duties.first_duty(user)):
            return None
        request.duty = duty  # type: ignore[attr-defined]  # for the page that says why
        if request.resolver_match and request.resolver_match.view_name in duty.pages:
            return None
        if getattr(request, "htmx", False):
            return HttpResponseClientRedirect(resolve_url(duty.page))
        return redirect(duty.page)


def _sign_in_again(request: HttpRequest) -> HttpResponse:
    """End this session, and say on the page that asks for a new one why."""
    page = request.get_full_path() if request.method == "GET" and not getattr(request, "htmx", False) else "/"
    logout(request)
    messages.info(
        request,
        _("You look after this site, so a sign-in lasts twelve hours, or one hour unused. Please sign in again."),
    )
    if getattr(request, "htmx", False):
        return HttpResponseClientRedirect(resolve_url("account_login"))
    return redirect_to_login(page, resolve_url("account_login"))


def note_presence(request: HttpRequest, user: User) -> None:
    """Write down, seldom, that this session is in use and from where; soon where the address is another one."""
    now, address = time.time(), addresses.of_request(request)
    moved = request.session.get("noted_from", address) != address
    if now - request.session.get("noted_at", 0) < (MOVED_EVERY if moved else NOTED_EVERY):
        return
    request.session["noted_at"], request.session["noted_from"] = now, address
    mine = UserSession.objects.filter(session_key=request.session.session_key)
    if not mine.update(last_seen_at=timezone.now(), ip=address):
        UserSession.objects.create_from_request(request)
    if user.seen_on != timezone.localdate():
        User.objects.filter(pk=user.pk).update(seen_on=timezone.localdate())
