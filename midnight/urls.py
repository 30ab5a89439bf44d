"""Every address of the site, by app."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

# One way in for everybody, with its second factors and limits.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("", include("games.urls")),
    path("account/", include("accounts.urls")),
    path("admin/", admin.site.urls),
]
