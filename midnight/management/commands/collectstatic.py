"""What a page loads, collected: by whatever user, for every user that runs a web process.

The files of earlier versions stay for a day: while a new version is deployed pages of both ask for theirs.
"""

import time
from typing import Any

from django.contrib.staticfiles.management.commands import collectstatic

from midnight.private_files import public
from midnight.storage import Files

KEPT_SECONDS = 24 * 60 * 60


class Command(collectstatic.Command):
    def handle(self, **options: Any) -> str | None:
        with public():
            if options["dry_run"] or not isinstance(self.storage, Files):
                return super().handle(**options)
            self.storage.mark_used()
            answer = super().handle(**options)
            gone = self.storage.prune(time.time() - KEPT_SECONDS)
            self.log(f"{len(gone)} files of earlier versions were removed.")
            return answer

    def delete_file(self, path: str, prefixed_path: str, source_storage: Any) -> bool:
        """Make room for every file. Dates do not tell which version is wanted: the one before may come back."""
        if not self.dry_run and self.storage.exists(prefixed_path):
            self.storage.delete(prefixed_path)
        return True
