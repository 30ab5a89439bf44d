"""What is wrong with the site, for staff."""

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from games import troubles


@require_safe
@never_cache
@login_required
def wrong(request: HttpRequest) -> HttpResponse:
    """One look at everything that somebody may have to mend; the page looks again by itself."""
    if not request.user.is_staff:
        raise PermissionDenied
    fragment = bool(getattr(request, "htmx", False))
    name = "games/moderation/_troubles.html" if fragment else "games/moderation/troubles.html"
    return render(request, name, {"found": troubles.look()})
