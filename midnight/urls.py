"""Every address of the site, by app."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from midnight import health, pages

# One way in for everybody, with its second factors and limits.
admin.site.autocomplete_view = pages.not_there  # type: ignore[method-assign]
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

handler400 = pages.bad_request
handler403 = pages.permission_denied
handler404 = pages.page_not_found
handler500 = pages.server_error

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("metrics", health.metrics, name="metrics"),
    path("", include("games.urls")),
    path("account/", include("accounts.urls")),
    path("about/", pages.about, name="about"),
    path("privacy/", pages.privacy, name="privacy"),
    path("display/", pages.display, name="display"),
    path("offline/", pages.offline, name="offline"),
    path("service-worker.js", pages.service_worker, name="service-worker"),
    path("admin/password_change/", RedirectView.as_view(pattern_name="account_change_password")),
    path("admin/", admin.site.urls),
]
