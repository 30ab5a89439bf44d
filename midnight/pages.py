"""The site's own pages: about, privacy, display and sound; and what one sees when something goes wrong."""

import logging
import sys
from dataclasses import asdict

from django.conf import settings
from django.contrib import messages
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    JsonResponse,
    UnreadablePostError,
)
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.template import loader
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _
from django.views import defaults
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from games.log import Unwritten
from midnight.look import DisplayForm, Look

# A part that the site stands on is away, and comes back without anybody mending the code.
PART_IS_AWAY = (OperationalError, InterfaceError, Unwritten, RedisError)
# A form that no parser takes: of an unknown charset, in parts without a boundary, cut off or with too many fields.
UNREADABLE = (BadRequest, MultiPartParserError, SuspiciousOperation, UnreadablePostError)
OFFLINE_PARTS = ["favicon.svg", "deco.woff2", "css/tokens.css", "css/base.css", "css/layout.css", "css/components.css"]
LAST_WORDS = '<!doctype html><html lang="en"><title>Midnight</title><p>The lights went out. Try again in a moment.</p>'
# What programs are told instead, on a page of whatever site.
API_ERRORS = {
    500: {"code": "fault", "message": "The mistake is ours."},
    503: {"code": "away", "message": "A part of the site is away. Try again in a moment."},
}
ANY_SITE = {"Access-Control-Allow-Origin": "*"}
logger = logging.getLogger("midnight.pages")


def not_there(request: HttpRequest) -> HttpResponse:
    """For an address that a library has and this site does not use."""
    raise Http404


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    return render(request, "site/about.html", {"contact": settings.CONTACT})


@require_safe
def privacy(request: HttpRequest) -> HttpResponse:
    names = {
        "session": settings.SESSION_COOKIE_NAME,
        "csrf": settings.CSRF_COOKIE_NAME,
        "language": settings.LANGUAGE_COOKIE_NAME,
        "devices": settings.DEVICES_COOKIE_NAME,
    }
    days = settings.SESSION_COOKIE_AGE // (60 * 60 * 24)
    return render(request, "site/privacy.html", {"names": names, "session_days": days})


@never_cache
def display(request: HttpRequest) -> HttpResponse:
    """Language, theme, motion, patterns, sounds: kept with the account, or in a visitor's cookies."""
    language = get_language() or settings.LANGUAGE_CODE
    form = DisplayForm(request.POST or None, initial={**asdict(Look.of(request)), "language": language})
    if request.method != "POST" or not form.is_valid():
        page = "site/display_of_account.html" if request.user.is_authenticated else "site/display.html"
        return render(request, page, {"form": form}, status=422 if form.is_bound else 200)

    here = reverse("display")
    there = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(there, {request.get_host()}, request.is_secure()):
        there = here
    response = HttpResponseRedirect(there)
    form.keep(request, response)
    if there == here:
        with override(form.cleaned_data["language"]):
            messages.success(request, _("Saved."))
    return response


@require_safe
@cache_control(no_cache=True)
def service_worker(request: HttpRequest) -> HttpResponse:
    """Served from the root, since a worker looks after the addresses below its own only."""
    kept = [reverse("offline"), *(staticfiles_storage.url(f"midnight/{name}") for name in OFFLINE_PARTS)]
    return render(request, "site/service-worker.js", {"kept": kept}, content_type="text/javascript")


@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """What the service worker shows when the line is cut; the same for everybody."""
    return render(request, "site/offline.html")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400. Django's own page checks the token of the form first, and so reads again what cannot be read."""
    return HttpResponse(loader.render_to_string("400.html"), status=400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """403, or 400 where the request cannot be read."""
    try:
        return defaults.permission_denied(request, exception)
    except UNREADABLE as reason:
        return bad_request(request, reason)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """404, or 400 where the request cannot be read."""
    try:
        return defaults.page_not_found(request, exception)
    except UNREADABLE as reason:
        return bad_request(request, reason)


def server_error(request: HttpRequest) -> HttpResponse:
    """500, or 503 where a part of the site is away; needs neither database nor session, and cannot fail itself."""
    away = isinstance(sys.exc_info()[1], PART_IS_AWAY)
    status, headers = (503, {"Retry-After": "10"}) if away else (500, {})
    if request.path_info.startswith("/api/"):
        return JsonResponse({"error": API_ERRORS[status]}, status=status, headers=ANY_SITE | headers)
    try:
        page: str = loader.render_to_string(f"{status}.html")
    except Exception:
        logger.exception("The page for status %s does not render.", status)
        page = LAST_WORDS
    return HttpResponse(page, status=status, headers=headers)
