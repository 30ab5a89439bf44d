"""A seeded fuzz of the whole site over Daphne: hostile requests at every address, hostile frames at every socket.

Neither breaks the server, nor does any answer hold a secret. The suite looks shortly, `--long` for minutes.
"""

import http.client
import json
import random
import re
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest
from allauth.account.models import EmailAddress
from django.conf import settings
from django.urls import Resolver404, resolve

from accounts.models import TakenName, User
from games import chance_secrets
from games.models import Game
from games.opening import NewSeat, open_game
from games.rules import chance as rules_chance
from games.rules import terms
from games.rules.fairness import share_of
from midnight.bench import race
from midnight.websocket import frames
from tests.browser.site import running_site
from tests.games.everybody import ROLES, Door, House, address, asked, doors, house, said
from tests.games.matrix import ANSWERS
from tests.games.night_watch import client_of
from tests.games.test_hostile_values import VALUES
from tests.midnight.running import eventually
from tests.midnight.websocket import client
from tests.midnight.websocket.served import PATIENCE, Client, request
from tests.settings import FOLDER, VALKEY
from tests.table.conftest import database_address, faults_in, garage, session_of
from tests.table.page import Message, Picture
from tests.table.test_hostile import UNREADABLE

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

THREADS = 4
FAULT_LINE = re.compile(r"^(?:\d\d:\d\d:\d\d (?:ERROR|CRITICAL)|Traceback).*", re.MULTILINE)


def faults_in_log(log: Path) -> list[str]:
    """Errors and tracebacks; that there is no worker here is none."""
    found = FAULT_LINE.findall(log.read_text(errors="replace"))
    return [line for line in found if "Service Unavailable: /healthz" not in line]


@contextmanager
def told(what: str, **tallies: Counter[Any]) -> Iterator[None]:
    """Say what came of it, whether the test fails or not: `-rP` shows it."""
    began = time.monotonic()
    try:
        yield
    finally:
        print(f"{what} in {time.monotonic() - began:.0f} s")  # noqa: T201
        for name, tally in tallies.items():
            print(f"  {name}: {dict(sorted(tally.items(), key=str))}")  # noqa: T201


# Requests ----------------------------------------------------------------------------------------------------------

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")
SCRIPT = "<script>alert(1)</script>"
HOSTILE = [
    *VALUES.values(),
    f"\"'>{SCRIPT}",
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "yes\r\nX-Injected: yes",
    "../../../../etc/passwd",
    "{{ 7|add:7 }}{% debug %}",
    "' OR 1=1 --",
    "",
]
# Of a line longer than 16 KiB the site reads nothing: these leave it shorter.
IN_LINES = [value[:1_500] for value in HOSTILE]
WORDS = (
    *("next", "q", "p", "o", "page", "after", "before", "player", "opponent", "language", "theme", "name", "login"),
    *("password", "email", "code", "person", "pk__lt", "reason", "words", "preset", "hours", "size", "record"),
)
HEADERS = (
    *("Host", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "Daphne-Root-Path", "Cookie"),
    *("Content-Type", "Range", "If-Modified-Since", "If-None-Match", "HX-Request", "HX-Target", "HX-Current-URL"),
    *("HX-Trigger", "HX-Prompt", "Accept", "Accept-Language", "Accept-Encoding", "Authorization", "X-Request-ID"),
    *("X-HTTP-Method-Override", "X-CSRFToken", "Origin", "Referer", "Upgrade", "Expect", "Transfer-Encoding"),
)
TYPICAL = (
    *("gzip", "true", "chunked", "100-continue", "websocket", "bytes=0-0,5-1", "bytes=9-1", "evil.example:99999"),
    *("Bearer nothing", "Basic !", "::1, 127.0.0.1:x", "[::1", "fr;q=x,*;q=9", "/elsewhere", "sessionid=\x01; =;;"),
    *("Fri, 31 Feb 0000 99:00:00 GMT", "localhost@evil.example", "multipart/form-data", "text/html; charset=no-such"),
)
TYPES = (
    "application/x-www-form-urlencoded",
    "application/x-www-form-urlencoded; charset=no-such",
    "application/x-www-form-urlencoded; charset=utf-16",
    "multipart/form-data",
    "multipart/form-data; boundary=",
    "multipart/form-data; boundary=" + "b" * 300,
    "multipart/form-data; boundary=b",
    "application/json",
    "text/plain",
)
HOUSE_LASTS = 500


@dataclass(frozen=True)
class Trial:
    """One request as its bytes."""

    door: Door
    role: str
    method: str
    stream: bytes


@dataclass(frozen=True)
class Reply:
    """An answer; its status is 0 where the line was closed without one, -1 where nothing came."""

    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: str = ""

    def header(self, name: str) -> str:
        return next((value for known, value in self.headers if known.lower() == name), "")


class Visitors:
    """One house at a time, with a session of each role in it, and what they send."""

    def __init__(self, port: int, chance: random.Random) -> None:
        self.port, self.chance, self.doors = port, chance, doors()
        self.house, self.cookies = self._move_in()
        self.game_secrets = secrets_of(self.house.game)

    def move(self) -> None:
        """Into a new house: much of the old one is signed out, suspended or deleted by now."""
        for user in User.objects.all():
            User.objects.filter(pk=user.pk).update(name=f"Old {user.pk}", folded_name=f"old {user.pk}")
        TakenName.objects.all().delete()
        EmailAddress.objects.all().delete()
        self.house, self.cookies = self._move_in()
        self.game_secrets = secrets_of(self.house.game)

    def _move_in(self) -> tuple[House, dict[str, str]]:
        here = house()
        name = settings.SESSION_COOKIE_NAME
        return here, {role: client_of(user, proved=True).cookies[name].value for role, user in here.people.items()}

    def trial(self) -> Trial:
        chance = self.chance
        door, role = chance.choice(self.doors), chance.choice(ROLES)
        method = chance.choice((*METHODS, "GET", "GET", "POST", "POST", "POST"))
        fields = {**asked(door), **(said(door, self.house) if method != "GET" else {})}
        for word in chance.sample((*WORDS, *fields), chance.choice((0, 0, 1, 3))):
            fields[word] = chance.choice(HOSTILE if method == "POST" else IN_LINES)
        path, query = self._path(door), urlencode(fields, doseq=True, errors="surrogatepass")
        headers, body = self._headers(role), b""
        if method in ("POST", "PUT", "PATCH"):
            kind = chance.choice((TYPES[0], TYPES[0], *TYPES))
            body = self._body(kind, fields, query)
            headers |= {"Content-Type": kind, "Content-Length": str(len(body))}
        if method not in ("POST", "PUT", "PATCH") or not chance.randrange(4):
            path += f"?{query}" if fields else ""
        for name in chance.sample(HEADERS, chance.choice((0, 0, 0, 1, 3))):
            headers[name] = chance.choice((*IN_LINES, *TYPICAL, *TYPICAL)).replace("\r\n", " ")
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        stream = f"{method} {path} HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode(errors="surrogatepass")
        return Trial(door, role, method, stream + body)

    def _path(self, door: Door) -> str:
        path = address(door, self.house)
        if self.chance.randrange(4):
            return path
        try:
            parts = [str(part) for part in resolve(path).kwargs.values() if part]
        except Resolver404:
            parts = []
        before, part, after = path.rpartition(self.chance.choice(parts or ["/"]))
        value = quote(self.chance.choice(IN_LINES), errors="surrogatepass", safe=self.chance.choice(("", "/%\\'")))
        return (before or "/") + value + after if part else path + value

    def _headers(self, role: str) -> dict[str, str]:
        """What a browser sends, from a household of its own."""
        site, token = f"localhost:{self.port}", "t" * 32
        session = f"; {settings.SESSION_COOKIE_NAME}={self.cookies[role]}" if role in self.cookies else ""
        household = ".".join(str(self.chance.randrange(1, 255)) for _ in range(4))
        return {
            "Host": site,
            "Origin": f"http://{site}",
            "Cookie": f"{settings.CSRF_COOKIE_NAME}={token}{session}",
            "X-CSRFToken": token,
            "X-Forwarded-For": f"{self.chance.choice(HOSTILE[:4])}, {household}",
        }

    def _body(self, kind: str, fields: dict[str, Any], query: str) -> bytes:
        if kind.startswith("multipart"):
            parts = [
                f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                for name, value in fields.items()
            ]
            return "".join([*parts, self.chance.choice(("--b--\r\n", "--b", ""))]).encode(errors="surrogatepass")
        if kind == "application/json":
            return json.dumps(fields).encode()
        return query.encode() if self.chance.randrange(8) else self.chance.randbytes(200)

    def send(self, trial: Trial) -> Reply:
        with (
            socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as line,
            closing(http.client.HTTPResponse(line, method=trial.method)) as answer,
        ):
            try:
                line.sendall(trial.stream)
                answer.begin()
                body = answer.read()
            except TimeoutError:
                return Reply(-1)
            except (OSError, http.client.HTTPException):
                return Reply(0)
            return Reply(answer.status, answer.getheaders(), body.decode(errors="replace"))

    def faults(self, trial: Trial, reply: Reply) -> Iterator[str]:
        """What is wrong with this answer."""
        refuses = reply.status == 503 and (reply.header("retry-after") or "u" in ANSWERS.get(trial.door.key, ""))
        if (reply.status >= 500 and not refuses) or reply.status < 0:
            yield str(reply.status)
        if "Traceback" in reply.body:
            yield "a traceback"
        if reply.header("content-type").startswith(("text/html", "application/xhtml")) and SCRIPT in reply.body:
            yield "a script"
        location = reply.header("location").replace("\\", "/")
        if urlsplit(location).hostname not in (None, "localhost", "127.0.0.1", "::1"):
            yield f"sent to {location}"
        if reply.header("x-injected"):
            yield "a header of the visitor's"
        for secret in self._kept_from(trial.role):
            if secret in reply.body and not (secret in self.game_secrets and is_over(self.house.game)):
                yield f"the secret {secret}"

    def _kept_from(self, role: str) -> Iterator[str]:
        yield from self.game_secrets
        yield from (user.password for user in self.house.people.values() if user.has_usable_password())
        if role in ("visitor", "guest", "owner"):
            yield "max@example.org"


def secrets_of(game: Game) -> list[str]:
    """The server's seed and the nonces of a game, as any text would have them."""
    kept = chance_secrets.of_game(game.pk)
    return [part.hex() for part in (kept.server_seed, *kept.nonces) if part and part != rules_chance.NO_NONCE]


def is_over(game: Game) -> bool:
    return not Game.objects.filter(pk=game.pk, ended=None).exists()


def test_no_request_breaks_the_site_or_gets_a_secret(
    monkeypatch: pytest.MonkeyPatch, so_often: Callable[[int, int], int]
) -> None:
    # Each request comes from a household of its own, as the header of our proxy says: no limit keeps it from its door.
    monkeypatch.setenv("TRUSTED_PROXIES", "1")
    many, faults, statuses = so_often(300, 40_000), Counter[str](), Counter[int]()
    log = FOLDER / "web.log"
    log.unlink(missing_ok=True)
    with running_site(FOLDER, database_address(), f"unix://{VALKEY}") as site, ThreadPoolExecutor(THREADS) as pool:
        visitors = Visitors(site.port, random.Random(11))
        with told(f"{many} requests", statuses=statuses, faults=faults):
            for first in range(0, many, HOUSE_LASTS):
                trials = [visitors.trial() for _ in range(min(HOUSE_LASTS, many - first))]
                for trial, reply in zip(trials, pool.map(visitors.send, trials), strict=True):
                    statuses[reply.status] += 1
                    for fault in visitors.faults(trial, reply):
                        faults[f"{trial.door.key} {trial.role}: {fault} at {trial.stream[:600]!r}"] += 1
                if first + HOUSE_LASTS < many:
                    visitors.move()
        assert site.answers()
    assert not faults
    assert statuses[200] > many // 20
    assert faults_in_log(log) == []


# Frames ------------------------------------------------------------------------------------------------------------

LIMITS = terms.Limits(0, 3_000, 30_000, 10_000, 10_000, 1_000, events=100_000, readies=1_000)
SEATS = 3
# What a table counts and what closes a page is tested elsewhere: here the frames are to reach the rules.
PROGRAM = race.SITE.replace("allowance.MOST_COMMANDS =", "consumers.MOST_UNREADABLE = allowance.MOST_COMMANDS =")
FORBIDDEN_CODES = {1011, 4500}
ODD = (None, True, -1, 0, 53, 54, 1.5, 1e308, 10**30, "", "3", "\0", "\ud800", "é" * 900, [], [3], {}, {"do": "lift"})
KINDS = ("sight", "join", "ack", "events", "dance", "ready ", "LIFT", "lift\0", "__class__", "welcome", "")
DOORS = ("games/{}", "talk/{}", "news", "news/rooms/{}", "news/{}", "nowhere", "games/{}/more")
CODES = ("no-such-code", "lobby", "queue", "a" * 500, "%00", "..%2F..%2Fadmin", "%F0%9F%8E%B2", "-1")


@dataclass
class Tally:
    """What one game's fuzz came to."""

    frames: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    closes: Counter[str] = field(default_factory=Counter)
    phases: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


class Page(Picture):
    """The page of a seat, or of a spectator, that says whatever it likes."""

    def __init__(self, port: int, match: "Match", seat: int | None) -> None:
        super().__init__()
        self.port, self.match, self.seat = port, match, seat
        self.line: Client | None = None
        self.said_nonce = "" if seat is None else match.chance.randbytes(16).hex()

    def come(self) -> None:
        self.line = connect(self.port, f"games/{self.match.code}", self.match.cookies.get(self.seat, ""))
        name = "watcher" if self.seat is None else f"p{self.seat}"
        self.say(client.text(json.dumps({"do": "join", "page": name})))

    def say(self, *stream: bytes) -> None:
        """Say this and a beat after it, and hear what there is to hear until the answer to that."""
        if self.line is None:
            self.come()
        if self.line is None:
            return None
        self.match.tally.frames += len(stream)
        self.line.send(*stream, client.text('{"do":"beat"}'))
        for opcode, payload in iter(lambda: self._next(), (-1, b"")):
            if opcode == frames.CLOSE:
                return self.closed(str(frames.close_code(payload)))
            if opcode == frames.TEXT and self._hears(payload.decode()):
                return None
        return self.closed("cut")

    def _next(self) -> tuple[int, bytes]:
        assert self.line is not None
        return next(iter(self.line.receive()), (-1, b""))

    def closed(self, code: str) -> None:
        assert self.line is not None
        self.line.line.close()
        self.line = None
        self.match.tally.closes[code] += 1

    def _hears(self, frame: str) -> bool:
        """Take one message in; whether it is the answer to a beat."""
        message = self.take(frame)
        self.frames.clear()
        self.match.judge(self, frame)
        self.match.tally.answers[message.get("code") or message["type"]] += 1
        return bool(message["type"] == "beat")

    def wish(self, chance: random.Random) -> Message | None:
        """A command that makes the game go on; None where it waits for others."""
        phase = self.sight.get("phase")
        if self.seat is None or phase is None:
            return None
        own = self.sight["players"][self.seat]
        if phase == "gathering":
            return None if own["ready"] else {"do": "ready", "on": True}
        if phase == "search":
            return self._search(own, chance)
        if phase == "exchange" and self.sight["turn"] == self.seat:
            return chance.choice(({"do": "pass"}, self._trade(own["board"], chance)))
        return None

    def _search(self, own: Message, chance: random.Random) -> Message:
        hand, board = own["hand"], own["board"]
        if hand is not None:
            wanted = len(board) < 6 and not (self._is_key(hand) and any(map(self._is_key, board)))
            return {"do": "stash", "tile": hand} if wanted else {"do": "return", "tile": hand, "face": "down"}
        if len(board) == 6 or not chance.randrange(8):
            return {"do": "escape"}
        return {"do": "lift", "tile": chance.choice(garage(self) or [0])}

    def _is_key(self, tile: int) -> bool:
        return "key" in self.sight["tiles"][tile].get("loot", "")

    @staticmethod
    def _trade(board: list[int], chance: random.Random) -> Message:
        if not board:
            return {"do": "pass"}
        if not chance.randrange(4):
            return {"do": "open_bag", "tile": chance.choice(board)}
        pay = chance.sample(board, min(len(board), chance.randrange(1, 4)))
        return {"do": "buy", "market": chance.randrange(4), chance.choice(("art", "cards")): 0, "pay": pay}


class Match:
    """One game, its pages, and what they throw at it, `most` frames or till it is over; without the database."""

    def __init__(self, port: int, game: Game, cookies: list[str], seed: bytes, number: int, most: int) -> None:
        self.port, self.game, self.code, self.seed, self.most = port, game, game.code, seed.hex(), most
        self.chance, self.tally = random.Random(number), Tally()
        self.cookies: dict[int | None, str] = dict(enumerate(cookies))
        self.pages = [Page(port, self, seat) for seat in (*range(len(cookies)), None)]

    def judge(self, page: Page, frame: str) -> None:
        if '"reveal"' in frame and page.sight["phase"] == "over":
            return
        others = [other.said_nonce for other in self.pages if other.seat not in (None, page.seat)]
        for secret in (self.seed, *others):
            if secret in frame:
                self.tally.faults.append(f"seat {page.seat} was told {secret}: {frame[:200]}")

    def play(self) -> "Match":
        for page in self.pages:
            page.say(*self.rubbish())
        for word in ("share", "nonce"):
            for page in self.pages[:-1]:
                value = share_of(bytes.fromhex(page.said_nonce)) if word == "share" else page.said_nonce
                page.say(client.text(json.dumps({"do": word, word: value})), *self.rubbish())
        while self.tally.frames < self.most and self.pages[0].sight.get("phase") != "over":
            page = self.chance.choice(self.pages)
            wish = page.wish(self.chance)
            self.tally.phases[str(page.sight.get("phase"))] += 1
            page.say(*([] if wish is None else [self.command(wish)]), *self.rubbish())
            if wish is None:
                time.sleep(0.03)
            if not self.chance.randrange(12):
                self.break_line(page)
            if not self.chance.randrange(12):
                self.knock()
        eventually(self.all_leave)
        for page in self.pages:
            page.say(*self.rubbish())
            if page.line is not None:
                page.line.line.close()
        return self

    def all_leave(self) -> bool:
        """Leave from every page, which ends the game; whether each has heard of the end."""
        for page in self.pages:
            page.say(self.command({"do": "leave"}), *self.rubbish())
            self.tally.phases[str(page.sight.get("phase"))] += 1
        return all(page.sight.get("phase") == "over" for page in self.pages)

    def break_line(self, page: Page) -> None:
        """Send what no client may, or any bytes at all."""
        wrong = [data for data, _ in client.WRONG.values()]
        flood = self.chance.choice(list(client.FLOODS.values())) * self.chance.randrange(1, 10)
        page.say(flood, self.chance.choice((*wrong, self.chance.randbytes(60))), client.close(1000))

    def knock(self) -> None:
        """At any socket's door, as anybody: a first message that is none ends it."""
        code = quote(self.chance.choice((self.code, *CODES)), safe="%")
        cookie = self.chance.choice((*self.cookies.values(), "", "no-such-session", "\x01"))
        line = connect(self.port, self.chance.choice(DOORS).format(code), cookie)
        if line.status != 101:
            self.tally.closes[f"HTTP {line.status}"] += 1
        else:
            rubbish = self.rubbish()
            self.tally.frames += len(rubbish) + 1
            line.send(*rubbish, client.text("bye"))
            self.tally.closes[str(line.close_code() or "cut")] += 1
        line.line.close()

    def rubbish(self) -> list[bytes]:
        return [self.chance.choice(self._ways)(self) for _ in range(self.chance.randrange(self.most // 130))]

    def command(self, said: Message) -> bytes:
        return client.text(json.dumps({**said, "id": self.chance.randbytes(5).hex()}))

    def _valid(self) -> bytes:
        """A command that could be one."""
        tile, slot = self.chance.randrange(54), self.chance.randrange(3)
        said: list[Message] = [
            {"do": "ready", "on": bool(slot)},
            {"do": "lift", "tile": tile},
            {"do": "stash", "tile": tile},
            {"do": "return", "tile": tile, "face": self.chance.choice(("up", "down"))},
            {"do": "buy", "market": slot, "art": slot, "pay": self.chance.sample(range(54), slot + 1)},
            {"do": "buy", "market": slot, "cards": slot, "pay": self.chance.sample(range(54), slot + 1)},
            {"do": "open_bag", "tile": tile},
            {"do": "place", "art": "painting", "card": "card"},
            {"do": "pass"},
        ]
        return self.command(self.chance.choice(said))

    def _odd(self) -> bytes:
        """A command with one thing in it that is of another kind, missing or too many."""
        said: Message = {"do": "buy", "market": 0, "art": 0, "pay": [3], "tile": 3, "face": "up", "on": True, "id": "a"}
        said = {"do": self.chance.choice(("lift", "return", "buy", "ready", "place", "nonce", "share", "join"))} | {
            name: said[name] for name in self.chance.sample(sorted(said), 4) if name != "do"
        }
        said[self.chance.choice((*said, "after", "nonce", "share", "mark"))] = self.chance.choice(ODD)
        return client.text(json.dumps(said))

    def _unknown(self) -> bytes:
        return client.text(json.dumps({"do": self.chance.choice(KINDS), "id": "a", "tile": 3}))

    def _almost(self) -> bytes:
        """A message with some of its letters gone or other ones."""
        text = list('{"do": "return", "tile": 17, "face": "down", "id": "a-1"}')
        for _ in range(self.chance.randrange(1, 5)):
            text[self.chance.randrange(len(text))] = self.chance.choice(["", "\0", "{", '"', "\\", "9" * 400, "é", "]"])
        return client.text("".join(text))

    def _unreadable(self) -> bytes:
        said = self.chance.choice(list(UNREADABLE.values()))
        return client.frame(frames.BINARY, said) if isinstance(said, bytes) else client.text(said)

    def _pieces(self) -> bytes:
        """A message in pieces, with a ping between them."""
        pieces = [
            client.frame(frames.TEXT, b'{"do": "lift", "tile"', final=False),
            client.frame(frames.PING, self.chance.randbytes(self.chance.randrange(126))),
            client.frame(frames.CONTINUATION, b"", final=False),
            client.frame(frames.CONTINUATION, b': 3, "id": "a"}'),
        ]
        return b"".join(pieces)

    def _control(self) -> bytes:
        return client.frame(self.chance.choice((frames.PING, frames.PONG)), self.chance.randbytes(20))

    _ways = (_valid, _valid, _odd, _odd, _unknown, _almost, _unreadable, _pieces, _control)


def connect(port: int, path: str, session: str) -> Client:
    line = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    made = Client(line)
    cookie = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}"} if session else {}
    line.sendall(request(f"/ws/1/{path}", {"Origin": f"http://localhost:{port}", **cookie}))
    made.read_answer()
    return made


def new_match(port: int, number: int, most: int) -> Match:
    people = [User.objects.create_guest() for _ in range(SEATS)]
    seats = [NewSeat(character, one.pk) for character, one in zip(terms.CHARACTERS, people, strict=False)]
    game = open_game(seats, limits=LIMITS)
    seed = chance_secrets.of_game(game.pk).server_seed
    return Match(port, game, [session_of(person) for person in people], seed, number, most)


def test_no_frame_breaks_a_table_or_gets_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, so_often: Callable[[int, int], int]
) -> None:
    assert PROGRAM != race.SITE
    monkeypatch.setenv("DATABASE_URL", database_address())
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "midnight.settings")
    many, total, ended = so_often(1_500, 100_000), Tally(), Counter[str]()
    with race.running_web(PROGRAM, tmp_path) as web, ThreadPoolExecutor(THREADS) as pool:
        with told("frames", answers=total.answers, closes=total.closes, phases=total.phases, games=ended):
            number = 0
            while total.frames < many:
                matches = [new_match(web.port, number + each, so_often(400, 2_000)) for each in range(THREADS)]
                number += THREADS
                for match in pool.map(Match.play, matches):
                    total.frames += match.tally.frames
                    total.answers += match.tally.answers
                    total.closes += match.tally.closes
                    total.phases += match.tally.phases
                    total.faults += match.tally.faults + faults_in(match.game.pk)
                    ended["over"] += is_over(match.game)
            ended["frames"] = total.frames
        line = http.client.HTTPConnection("127.0.0.1", web.port, timeout=PATIENCE)
        line.request("GET", "/metrics", headers={"Host": "localhost"})
        assert line.getresponse().status == 200
        line.close()
    assert not total.faults
    assert ended["over"] == number
    assert {"gathering", "search"} <= set(total.phases)
    assert not FORBIDDEN_CODES & {int(code) for code in total.closes if code.isdecimal()}
    assert faults_in_log(tmp_path / "web.log") == []
