"""Letters by mail: written in the language of whoever gets them, sent by a worker.

A letter is two templates: `…_subject.txt` and `…_message.txt`.
"""

from collections.abc import Collection
from contextlib import suppress
from email.parser import BytesParser
from email.utils import getaddresses, make_msgid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from allauth.account.models import EmailAddress
from celery import shared_task
from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.message import sanitize_address
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import translation

from accounts.models import User
from accounts.site_links import at_root


def to_person(user: User, template: str, **facts: Any) -> None:
    """Write to a person's confirmed address; to nobody where there is none."""
    address = _address_of(user)
    if address:
        send(address, template, user=user, **facts)


def send(address: str, template: str, *, user: User | None = None, **facts: Any) -> None:
    """Write a letter and have it sent once the transaction is committed. It may be lost where no worker can be told."""
    subject, message = _written(address, template, user, facts)
    number = make_msgid(domain=urlsplit(settings.SITE_URL).hostname)
    transaction.on_commit(lambda: deliver.delay(address, subject, message, number), robust=True)


def send_now(user: User, template: str, *, headers: dict[str, str], **facts: Any) -> None:
    """The same to a person's confirmed address at once, for workers; OSError where the mail server does not take it."""
    address = _address_of(user)
    if address:
        subject, message = _written(address, template, user, facts)
        EmailMessage(subject, message, to=[address], headers=headers).send()


def are_kept() -> bool:
    """Whether this site keeps its letters as files, since it sends none."""
    return bool(getattr(settings, "EMAIL_FILE_PATH", None)) and settings.EMAIL_BACKEND.endswith(
        ".filebased.EmailBackend"
    )


def forget(addresses: Collection[str]) -> None:
    """Remove the letters to these addresses that this site keeps as files, since it sends none."""
    if not addresses or not are_kept():
        return
    folder = getattr(settings, "EMAIL_FILE_PATH", "")
    gone = {sanitize_address(address, "utf-8").casefold() for address in addresses}
    for file in Path(folder).glob("*.log"):
        with suppress(FileNotFoundError):
            if gone & _addressed(file.read_bytes()):
                file.unlink()


def _addressed(letters: bytes) -> set[str]:
    """To whom the letters in one file go; Django puts a line between two of them."""
    heads = [BytesParser().parsebytes(one.lstrip(), headersonly=True) for one in letters.split(b"-" * 79)]
    return {address.casefold() for _name, address in getaddresses([str(head.get("To", "")) for head in heads])}


def _address_of(user: User) -> str:
    found = EmailAddress.objects.filter(user=user, verified=True, primary=True).first()
    return found.email if found else ""


def _written(address: str, template: str, user: User | None, facts: dict[str, Any]) -> tuple[str, str]:
    """A letter's subject and what it says."""
    language = user.language if user and user.language else translation.get_language() or settings.LANGUAGE_CODE
    with translation.override(language), at_root():
        facts = {"person": user, "site_url": settings.SITE_URL, "address": address, **facts}
        subject = " ".join(render_to_string(f"{template}_subject.txt", facts).split())
        message = render_to_string(f"{template}_message.txt", facts).strip() + "\n"
    return settings.ACCOUNT_EMAIL_SUBJECT_PREFIX + subject, message


@shared_task(autoretry_for=(OSError,), retry_backoff=30, max_retries=5)
def deliver(address: str, subject: str, message: str, number: str) -> None:
    """Two workers may deliver one letter: by its number a mailbox knows that it is the same."""
    EmailMessage(subject, message, to=[address], headers={"Message-ID": number}).send()
