"""How collected files are kept."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage


class Files(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # WhiteNoise has no types
    """Named after their contents, and packed with gzip alone.

    Where brotli happens to be installed WhiteNoise would pack with that too, at its slowest: seconds at a first start,
    for a few kilobytes.
    """

    # Our modules name what they import by contents too: no page ever mixes old ones with new ones.
    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("*/js/*.js", (('(?P<matched>(?P<before>from |import\\()"(?P<url>\\./[^"]+)")', '%(before)s"%(url)s"'),)),
    )

    def mark_used(self) -> None:
        """Note that pages use the files of this manifest until now; `prune` goes by that."""
        for name in self._with_packed(self.hashed_files.values()):
            with suppress(FileNotFoundError):
                os.utime(self.path(name))

    def prune(self, before: float) -> list[str]:
        """Remove the files that no manifest has named since that moment; the answer is their names."""
        current = {self.manifest_name, *self._with_packed([*self.hashed_files, *self.hashed_files.values()])}
        folder = Path(self.location)
        files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
        old = [name for name, path in files.items() if name not in current and path.stat().st_mtime < before]
        for name in old:
            files[name].unlink()
        return old

    @staticmethod
    def _with_packed(names: Iterable[str]) -> Iterator[str]:
        for name in names:
            yield from (name, f"{name}.gz", f"{name}.br")

    def create_compressor(self, **options: Any) -> Compressor:
        return Compressor(use_brotli=False, **options)
