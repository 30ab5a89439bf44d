"""Letters by mail: written in the language of whoever gets them, sent by a worker.

A letter is two templates: `…_subject.txt` and `…_message.txt`.
"""

from typing import Any

from allauth.account.models import EmailAddress
from celery import shared_task
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import translation

from accounts.models import User


def to_person(user: User, template: str, **facts: Any) -> None:
    """Write to a person's confirmed address; to nobody where there is none."""
    address = EmailAddress.objects.filter(user=user, verified=True, primary=True).first()
    if address:
        send(address.email, template, user=user, **facts)


def send(address: str, template: str, *, user: User | None = None, **facts: Any) -> None:
    """Write a letter and have it sent once the transaction is committed. It may be lost where no worker can be told."""
    language = user.language if user and user.language else translation.get_language() or settings.LANGUAGE_CODE
    with translation.override(language):
        facts = {"person": user, "site_url": settings.SITE_URL, "address": address, **facts}
        subject = " ".join(render_to_string(f"{template}_subject.txt", facts).split())
        message = render_to_string(f"{template}_message.txt", facts).strip() + "\n"
    transaction.on_commit(
        lambda: deliver.delay(address, settings.ACCOUNT_EMAIL_SUBJECT_PREFIX + subject, message),
        robust=True,
    )


@shared_task(autoretry_for=(OSError,), retry_backoff=30, max_retries=5)
def deliver(address: str, subject: str, message: str) -> None:
    EmailMessage(subject, message, to=[address]).send()
