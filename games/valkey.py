"""Every connection to Valkey: how long each may take, and what happens while nothing answers.

What Valkey carries may be lost at any time, so nothing here may hold up a page or a game. A server that refuses is seen
at once; a host that vanishes says nothing at all, and only time limits find out. Each client here has them, and so do
the cache and the broker, which take their options from here (settings.py).

- `client` and `async_client`: one-off questions and commands.
- `gate`: a circuit breaker for what may be lost. After a failure the next attempts fail at once.
- `Publisher` and `Subscriber`: both ends of Valkey's channels in an event loop.
"""

import asyncio
import contextlib
import logging
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import redis
import redis.asyncio
from django.conf import settings
from redis.asyncio import connection as async_connection

logger = logging.getLogger(__name__)

# The longest that a connection may take to be made, and one command to be answered.
CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 2.0
# A subscriber asks so often whether its line still carries, and takes one for dead that was silent for so long.
PING_SECONDS = 1.5
MUTE_SECONDS = 4.0
# How long a cancelled task may take before it is cancelled again.
CANCEL_SECONDS = 0.1
# Between two attempts to reach a Valkey that is away.
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 5.0

LIMITS: dict[str, Any] = {"socket_connect_timeout": CONNECT_SECONDS, "socket_timeout": ANSWER_SECONDS}
CACHE_OPTIONS: dict[str, Any] = {
    **LIMITS,
    # A page does not wait long for a place among the connections either.
    "pool_class": "redis.BlockingConnectionPool",
    "max_connections": 20,
    "timeout": ANSWER_SECONDS,
    "retry": None,
}
# A worker that waits for jobs asks every second, and takes its line for dead after `health_check_interval` more.
BROKER_OPTIONS: dict[str, Any] = {
    **LIMITS,
    "socket_keepalive": True,
    "health_check_interval": 5,
    "max_retries": 0,
}

FAULTS = (redis.ConnectionError, redis.TimeoutError, OSError)


class Away(redis.ConnectionError):
    """Valkey did not answer a moment ago, so it was not asked."""


# Clients --------------------------------------------------------------------------------------------------------------


def client(patience: float = ANSWER_SECONDS) -> redis.Redis:
    """A client for a question or two, to be closed; no part of one takes longer than `patience` seconds."""
    limits = {"socket_connect_timeout": patience, "socket_timeout": patience}
    return redis.Redis.from_url(settings.REDIS_URL, **limits, retry=None)


def async_client(patience: float = ANSWER_SECONDS) -> "redis.asyncio.Redis":
    """The same for an event loop."""
    return redis.asyncio.Redis.from_pool(async_pool(socket_connect_timeout=patience, socket_timeout=patience))


def async_pool(**options: Any) -> async_connection.ConnectionPool:
    """A pool of connections that end where the kernel gives up on them (see `_Guard`)."""
    pool = async_connection.ConnectionPool.from_url(settings.REDIS_URL, **LIMITS | options)
    pool.connection_class = GUARDED[pool.connection_class]
    return pool


def seconds_of(answer: tuple[int, int]) -> float:
    """The answer to TIME as seconds since 1970: one clock for processes of several machines."""
    seconds, microseconds = answer
    return seconds + microseconds / 1_000_000


class _Guard(async_connection.AbstractConnection):
    """Ends a connection that the kernel has given up.

    It says so by ETIMEDOUT, which is Python's TimeoutError, and that is how asyncio says that the caller's patience is
    over. redis-py takes the one for the other: a caller that waits for messages is told, at once and for ever, that
    there is none yet, and a loop of such waits never gives way to the event loop.
    """

    async def _read_response_from_parser(self, *args: Any, **options: Any) -> Any:
        try:
            return await super()._read_response_from_parser(*args, **options)
        except TimeoutError as error:
            if error.errno is None:
                raise
            raise ConnectionError(*error.args) from error


class _TcpConnection(_Guard, async_connection.Connection):
    pass


class _TlsConnection(_Guard, async_connection.SSLConnection):
    pass


class _SocketConnection(_Guard, async_connection.UnixDomainSocketConnection):
    pass


GUARDED: dict[type, type[async_connection.AbstractConnection]] = {
    async_connection.Connection: _TcpConnection,
    async_connection.SSLConnection: _TlsConnection,
    async_connection.UnixDomainSocketConnection: _SocketConnection,
}


# While nothing answers ------------------------------------------------------------------------------------------------


class Backoff:
    """Pauses that double from FIRST_PAUSE to LONGEST_PAUSE, each shortened by chance, so that processes spread out."""

    def __init__(self) -> None:
        self._longest = FIRST_PAUSE

    def next(self) -> float:
        pause, self._longest = self._longest, min(2 * self._longest, LONGEST_PAUSE)
        return random.uniform(pause / 2, pause)  # noqa: S311  (no secret)

    def reset(self) -> None:
        self._longest = FIRST_PAUSE


class Gate:
    """A circuit breaker, for any thread and loop of this process: after a failure attempts fail at once for a while.

    Then one attempt is let through; its success opens the gate for all. Each time it shuts or opens is one line in the
    log.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._backoff = Backoff()
        self._shut_since: float | None = None
        self._next_attempt = 0.0

    @contextlib.contextmanager
    def attempt(self) -> Iterator[None]:
        """Do this if the gate is open, else raise Away; a fault of the connection shuts it."""
        is_trial = self._enter()
        try:
            yield
        except FAULTS as error:
            self._failed(error, is_trial)
            raise
        else:
            self._succeeded()

    def open(self) -> float | None:
        """Let all attempts through from now on; the answer is since when the gate was shut, None if it was open."""
        with self._lock:
            since, self._shut_since = self._shut_since, None
            self._backoff.reset()
        return since

    def _enter(self) -> bool:
        """Whether this is the one attempt that a shut gate lets through."""
        with self._lock:
            if self._shut_since is None:
                return False
            now = self._clock()
            if now < self._next_attempt:
                raise Away("Valkey did not answer a moment ago.")
            # The next one waits for the outcome of this one, but not for ever, since it may be cancelled.
            self._next_attempt = now + CONNECT_SECONDS + ANSWER_SECONDS
            return True

    def _failed(self, error: Exception, is_trial: bool) -> None:
        with self._lock:
            was_open = self._shut_since is None
            if not was_open and not is_trial:
                return  # it began while the gate was open, and says nothing new
            now = self._clock()
            self._shut_since = now if was_open else self._shut_since
            self._next_attempt = now + self._backoff.next()
        if was_open:
            logger.warning("Valkey does not answer: %s", str(error) or type(error).__name__)

    def _succeeded(self) -> None:
        if self._shut_since is not None and (since := self.open()) is not None:
            logger.info("Valkey answers again after %.1f s.", self._clock() - since)


gate = Gate()


class GatedClient(redis.Redis):
    """A client that asks only while the gate is open."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        with gate.attempt():
            return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]


def publish(channel: str, message: str | bytes) -> None:
    """Publish from outside of an event loop; what cannot be sent is lost."""
    try:
        with gate.attempt(), client() as asked:
            asked.publish(channel, message)
    except (redis.RedisError, OSError) as error:
        logger.debug("A message was lost: %s", error)


# Channels, in an event loop -------------------------------------------------------------------------------------------


async def end_task(task: "asyncio.Task[None]") -> None:
    """Cancel a task and wait until it has ended.

    In Python 3.11 `wait_for` loses a cancellation that meets the answer it waits for, as redis-py's connecting does: so
    it is repeated.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=CANCEL_SECONDS)


class Publisher:
    """Publishes from one event loop. What Valkey does not take within ANSWER_SECONDS is lost."""

    def __init__(self) -> None:
        self._client = async_client()
        # One connection is enough. While one message waits for a silent Valkey the others wait for what it finds out.
        self._speaks = asyncio.Lock()

    async def publish(self, channel: str, message: str | bytes) -> None:
        try:
            async with self._speaks:
                with gate.attempt():
                    async with asyncio.timeout(ANSWER_SECONDS):
                        await self._client.publish(channel, message)
        except (redis.RedisError, OSError) as error:
            logger.debug("A message was lost: %s", error)

    async def close(self) -> None:
        with contextlib.suppress(redis.RedisError, OSError):
            await self._client.aclose()


class Subscriber:
    """Calls `hear(channel, data)` for each message of its channels, from the event loop that made it.

    A line that breaks, or is silent although it was pinged, is replaced by a new one with the same channels; what was
    published meanwhile is lost. One line in the log each time it loses or regains Valkey.
    """

    def __init__(self, hear: Callable[[str, bytes], None], *channels: str) -> None:
        self._hear = hear
        self._channels = set(channels)
        self._line: async_connection.AbstractConnection | None = None
        self._speaks = asyncio.Lock()
        self._tried = asyncio.Event()
        self._backoff = Backoff()
        self._lost_at: float | None = None
        self._task = asyncio.create_task(self._run())

    async def subscribe(self, channel: str) -> None:
        """Hear this channel too: from now on, or from when Valkey is there again."""
        self._channels.add(channel)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._tried.wait()
        await self._say("SUBSCRIBE", channel)

    async def unsubscribe(self, channel: str) -> None:
        self._channels.discard(channel)
        await self._say("UNSUBSCRIBE", channel)

    async def close(self) -> None:
        await end_task(self._task)

    async def _run(self) -> None:
        pool = async_pool(socket_timeout=MUTE_SECONDS, protocol=2)
        while True:
            try:
                await self._listen(pool.make_connection())  # type: ignore[no-untyped-call]
            except (redis.RedisError, OSError) as error:
                self._note_loss(error)
            except Exception:
                logger.exception("A subscriber failed")
            self._tried.set()
            await asyncio.sleep(self._backoff.next())

    async def _listen(self, line: async_connection.AbstractConnection) -> None:
        """Hear what comes by this line, until it breaks."""
        pinging = asyncio.create_task(self._ping())
        try:
            await line.connect()  # type: ignore[no-untyped-call]
            self._line = line
            if self._channels:
                await self._say("SUBSCRIBE", *self._channels)
            self._tried.set()
            while True:
                # Without a time limit of its own, which would hide the connection's.
                answer = await line.read_response()
                self._note_answer()
                if isinstance(answer, list) and answer[0] == b"message":
                    self._pass_on(answer[1].decode(), answer[2])
        finally:
            self._line = None
            pinging.cancel()
            await line.disconnect(nowait=True)

    async def _ping(self) -> None:
        """Give a line that carries something to carry, at least each PING_SECONDS."""
        while True:
            await asyncio.sleep(PING_SECONDS)
            await self._say("PING")

    async def _say(self, *words: str) -> None:
        """Send this if there is a line. A line that breaks is noticed where it is read."""
        async with self._speaks:
            if self._line is not None and self._line.is_connected:
                with contextlib.suppress(redis.RedisError, OSError):
                    await self._line.send_command(*words, check_health=False)

    def _pass_on(self, channel: str, data: bytes) -> None:
        try:
            self._hear(channel, data)
        except Exception:
            # One message must not end the hearing of the others.
            logger.exception("What was heard on %s could not be followed", channel)

    def _note_loss(self, error: Exception) -> None:
        if self._lost_at is None:
            self._lost_at = time.monotonic()
            logger.warning("A subscriber has lost Valkey: %s", error)

    def _note_answer(self) -> None:
        self._backoff.reset()
        if self._lost_at is not None:
            logger.info("A subscriber hears Valkey again after %.1f s.", time.monotonic() - self._lost_at)
            self._lost_at = None
