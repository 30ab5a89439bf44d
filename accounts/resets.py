"""A forgotten password. Nobody but the owner of a mailbox learns whether its address is known here.

The page asks a worker and answers; only the worker looks the address up. So both answers are the same, to the letter
and in the time they take.
"""

from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from celery import shared_task
from django.conf import settings
from django.db import transaction
from django.utils import translation

from accounts import attempts, letters
from accounts.site_links import link_to


def ask(mail: str) -> None:
    """Have a letter sent to that address, if it is a person's confirmed one and has not had several this hour."""
    if not attempts.may_write_again(mail):
        return
    language = translation.get_language() or settings.LANGUAGE_CODE
    transaction.on_commit(lambda: send.delay(mail, language), robust=True)


@shared_task
def send(mail: str, language: str) -> None:
    """The worker's part: look the address up and write."""
    with translation.override(language):
        for address in EmailAddress.objects.filter(email=mail.lower(), verified=True).select_related("user"):
            if not address.user.is_active:
                continue
            key = default_token_generator.make_token(address.user)
            place = {"uidb36": user_pk_to_url_str(address.user), "key": key}
            link = link_to("account_reset_password_from_key", **place)
            letters.send(address.email, "accounts/letters/reset", user=address.user, link=link)
