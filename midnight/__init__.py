"""The wiring of the site: settings, addresses, services."""

from midnight.celery import app as celery_app

__all__ = ["celery_app"]
