"""The Celery application; its tasks live in the apps."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "midnight.settings")

app = Celery("midnight")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
