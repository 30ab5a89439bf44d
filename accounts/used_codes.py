"""Accept each code of an authenticator app once. Used codes are kept in the database: the cache may lose them."""

import time

from allauth.mfa import app_settings
from allauth.mfa.models import Authenticator
from django.db import transaction

# In an app's data: its codes that were used, each with the second of that.
USED = "used"


def take(app: Authenticator, code: str) -> bool:
    """Mark a valid code as used. False where it was used before; of concurrent calls exactly one returns True."""
    now, digits = int(time.time()), "".join(filter(str.isdigit, code))
    good_for = app_settings.TOTP_PERIOD * (2 * app_settings.TOTP_TOLERANCE + 1)
    with transaction.atomic():
        row = Authenticator.objects.select_for_update().get(pk=app.pk)
        used = {code: at for code, at in row.data.get(USED, {}).items() if at > now - good_for}
        if digits in used:
            return False
        row.data[USED] = {**used, digits: now}
        row.save(update_fields=["data"])
    return True
