"""One thing after another: the jobs of one table, in the order in which they were asked for (R4.3)."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

Job = Callable[[], Awaitable[None]]


class Turns:
    """Jobs that wait for each other. `failed` hears of what a job raised and says whether the next one has its turn."""

    def __init__(self, failed: Callable[[Exception], Awaitable[bool]]) -> None:
        self._failed = failed
        self._jobs: asyncio.Queue[Job] = asyncio.Queue()
        # The job behind all others that wait.
        self.last: Job | None = None
        # Since when a job has had its turn, by the monotonic clock; None between two jobs.
        self.at_work_since: float | None = None
        self._worker = asyncio.create_task(self._work())

    @property
    def busy(self) -> bool:
        return self.at_work_since is not None or not self._jobs.empty()

    def ask(self, job: Job) -> None:
        """Do this when its turn comes."""
        self._jobs.put_nowait(job)
        self.last = job

    async def done(self, job: Job) -> bool:
        """Wait until this job has had its turn; False where no job has one any more."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def to_its_end() -> None:
            try:
                await job()
            finally:
                done.set_result(None)

        self.ask(to_its_end)
        await asyncio.wait([done, self._worker], return_when=asyncio.FIRST_COMPLETED)
        return done.done()

    def stop(self) -> None:
        """No job has a turn from now on."""
        self._worker.cancel()

    async def stopped(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await self._worker

    async def _work(self) -> None:
        while True:
            self.at_work_since = None
            job = await self._jobs.get()
            if self._jobs.empty():
                self.last = None
            self.at_work_since = time.monotonic()
            try:
                await job()
            except Exception as error:
                if not await self._failed(error):
                    return
