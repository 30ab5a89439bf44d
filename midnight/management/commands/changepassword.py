"""Django's own command, which also ends what hangs on the old password."""

import getpass
from typing import Any

from django.contrib.auth.management.commands import changepassword

from accounts import sessions
from accounts.models import EndedSession, User


class Command(changepassword.Command):
    help = "Change somebody's password. Their sessions and sockets end."

    def handle(self, *args: Any, **options: Any) -> str | None:
        options["username"] = options["username"] or getpass.getuser()
        said = super().handle(*args, **options)
        sessions.end_all(User.objects.get(name=options["username"]), EndedSession.Reason.PASSWORD)
        return said
