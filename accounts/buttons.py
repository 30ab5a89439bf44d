"""What a button does, and where whoever comes to its address without pressing it belongs."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.views.decorators.http import require_http_methods

View = Callable[..., HttpResponse]


def button_of(page: str, *shared: str) -> Callable[[View], View]:
    """For what a button of `page` does: a POST does it, whoever only looks is sent to the page.

    A browser comes to look where signing in, or the footer's form, leads back to where it was. `shared` names the
    parts of the address that the page's has too. The page says for itself who may see it.
    """

    def decorate(view: View) -> View:
        @require_http_methods(["GET", "HEAD", "POST"])
        @wraps(view)
        def pressed(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.method == "POST":
                return view(request, *args, **kwargs)
            return redirect(resolve_url(page, **{name: kwargs[name] for name in shared}))

        return pressed

    return decorate
