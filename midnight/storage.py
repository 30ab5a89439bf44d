"""How collected files are kept."""

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

    def create_compressor(self, **options: Any) -> Compressor:
        return Compressor(use_brotli=False, **options)
