"""Every address of the site, by app."""

from django.contrib import admin
from django.urls import include, path

from midnight import health

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("metrics", health.metrics, name="metrics"),
    path("", include("games.urls")),
    path("admin/", admin.site.urls),
]
