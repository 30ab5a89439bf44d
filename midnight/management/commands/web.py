"""One web process."""

import asyncio
import gc
import logging
from argparse import ArgumentParser
from typing import Any

import uvloop
from django.conf import settings
from django.core.management.base import BaseCommand

from midnight import stack, watchdog

logger = logging.getLogger(__name__)

# When the database does not answer at the start it is asked again so soon.
AGAIN_SECONDS = 1.0
# Of a socket's message, in both directions: the whole sight of a game is some 10 KiB. A longer one breaks the line;
# what is too long for us but shorter than this is refused with a sentence.
LONGEST_MESSAGE = 64 * 1024

# Python looks through all objects for rings of dead ones, and everybody at every table waits for it: with two hundred
# tables a quarter of a second, every other second. A game makes no rings, so it may look rarely, and not at the code.
COLLECT_AFTER = (20_000, 20, 50)


class Command(BaseCommand):
    help = (
        "Serve pages and sockets: Daphne on uvloop, with our limits. Behind a proxy run as many of these as you like."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--port", type=int, help="a TCP port on this machine")
        where.add_argument("--socket", help="the path of a unix socket")
        where.add_argument("--fd", type=int, help="a socket that is open already")
        parser.add_argument("--bind", default="127.0.0.1", help="the address that --port is opened on")

    def handle(self, *_: Any, port: int | None, socket: str | None, fd: int | None, bind: str, **__: Any) -> None:
        stack.require_redis()
        # Daphne takes the loop that the policy makes when it is imported, not when it runs.
        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
        from daphne.endpoints import build_endpoint_description_strings

        from midnight.asgi import application
        from midnight.edge import admission, http_protocol
        from midnight.postgresql import web_limits
        from midnight.websocket.server import SocketServer

        admission.raise_descriptor_limit()
        web_limits.apply()
        http_protocol.install()
        address = {"host": bind, "port": port} if port is not None else {}
        server = SocketServer(
            application,
            proxies=settings.TRUSTED_PROXIES,
            while_running=run_tables,
            before_stop=stop_tables,
            endpoints=build_endpoint_description_strings(**address, unix_socket=socket, file_descriptor=fd),
            http_timeout=60,
            websocket_connect_timeout=5,
            websocket_max_message_size=LONGEST_MESSAGE,
            websocket_max_frame_size=LONGEST_MESSAGE,
            server_name="",
        )
        watchdog.start()
        gc.freeze()
        gc.set_threshold(*COLLECT_AFTER)
        server.run()
        if server.abort_start:
            raise stack.CannotRun("The web process could not listen: see above.")


async def run_tables() -> None:
    """Feed the watchdog, and be ready once this process looks after games: only then another one may stop.

    Django's modules are ready by now, and not before.
    """
    from games import tables
    from games.log import Unwritten

    async with asyncio.TaskGroup() as together:
        together.create_task(watchdog.keep_feeding())
        while True:
            try:
                await tables.here()
                break
            except Unwritten as error:
                logger.error("The database does not answer: %s", error)
                await asyncio.sleep(AGAIN_SECONDS)
        watchdog.notify(watchdog.READY)


async def stop_tables() -> None:
    """Daphne ends every connection without a word when it stops: before that, the pages hear that it will."""
    from games import tables

    watchdog.end_soon()
    await tables.stop_here()
