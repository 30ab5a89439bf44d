"""A large file on its way out, never whole in memory: by the proxy where it says that it can, else block by block.

Daphne takes whatever it is given and keeps what its reader has not taken yet. So blocks come no faster than most
readers take them, and few files are on their way at once.
"""

import asyncio
import os
import threading
import weakref
from collections.abc import AsyncIterator
from io import BufferedReader
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

GZIP = "application/gzip"
AT_ONCE = 4
BLOCK = 256 * 1024
BYTES_A_SECOND = 8 * 1024 * 1024
# A web process cuts off whatever takes a minute (web.py): a larger file comes faster.
MOST_SECONDS = 40
# Where the proxy finds the dumps, and nobody outside (midnight/deploy/nginx.conf).
WITHIN = "/given-out/"

_places = threading.BoundedSemaphore(AT_ONCE)


class NoPlace(Exception):
    """As many files are on their way as may be."""


class Blocks:
    """A file's blocks, to be read once; its place is free again when it is closed or forgotten."""

    def __init__(self, path: Path) -> None:
        if not _places.acquire(blocking=False):
            raise NoPlace
        try:
            self._file = path.open("rb")
        except OSError:
            _places.release()
            raise
        self.size = os.fstat(self._file.fileno()).st_size
        # An answer whose reader left while it was made is closed by nobody.
        self.close = weakref.finalize(self, _close, self._file)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while block := await asyncio.to_thread(self._file.read, BLOCK):
            yield block
            await asyncio.sleep(seconds(self.size) * len(block) / self.size)


def _close(file: BufferedReader) -> None:
    file.close()
    _places.release()


def seconds(size: int) -> float:
    """How long so many bytes take to go out."""
    return min(size / BYTES_A_SECOND, MOST_SECONDS)


def give_out(request: HttpRequest, path: Path) -> HttpResponseBase:
    """The answer that brings this compressed file; `NoPlace` where too many are on their way."""
    headers = {"Content-Disposition": f'attachment; filename="{path.name}"'}
    if settings.TRUSTED_PROXIES and request.headers.get("X-Sendfile-Type") == "X-Accel-Redirect":
        return HttpResponse(content_type=GZIP, headers=headers | {"X-Accel-Redirect": WITHIN + path.name})
    if request.method == "HEAD":
        return HttpResponse(content_type=GZIP, headers=headers | {"Content-Length": str(path.stat().st_size)})
    blocks = Blocks(path)
    return StreamingHttpResponse(blocks, content_type=GZIP, headers=headers | {"Content-Length": str(blocks.size)})
