"""Token buckets and capacities by themselves: exact, and bounded."""

import re

import pytest

from midnight.edge import costs
from midnight.edge.admission import Admission, Capacity, Memory
from midnight.edge.rate_limit import TokenBuckets
from tests.midnight.running import ROOT

APPS = ("midnight", "games", "accounts")
KINDS = {".js", ".css", ".woff2"}
SETTINGS = (ROOT / "midnight" / "settings.py").read_text()


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_a_bucket_gives_its_burst_and_then_its_rate() -> None:
    clock = Clock()
    buckets = TokenBuckets(rate=20, burst=60, now=clock)
    assert [buckets.take("a") for _ in range(60)] == [0] * 60
    assert buckets.take("a") == pytest.approx(0.05)
    clock.seconds += 1
    assert sum(buckets.take("a") == 0 for _ in range(100)) == 20


def test_what_is_refused_takes_no_tokens() -> None:
    clock = Clock()
    buckets = TokenBuckets(rate=1, burst=10, now=clock)
    assert buckets.take("a", 8) == 0
    assert buckets.take("a", 3) == pytest.approx(1)
    assert buckets.take("a", 2) == 0


def test_each_key_has_a_bucket_of_its_own_and_their_number_is_bounded() -> None:
    buckets = TokenBuckets(rate=1, burst=1, most=100, now=Clock())
    assert all(buckets.take(str(number)) == 0 for number in range(1_000))
    assert len(buckets) == 100
    assert buckets.take("999") > 0


def test_a_place_is_given_back_once() -> None:
    capacity = Capacity("lines", most=3, most_each=2)
    leave = capacity.enter("a")
    capacity.enter("a")
    assert capacity.check("a") is capacity.share_taken
    assert capacity.check("b") is None
    capacity.enter("b")
    assert capacity.check("c") is capacity.all_taken
    leave()
    leave()
    assert capacity.check("a") is None
    capacity.enter("a")
    assert capacity.check("b") is capacity.all_taken


def test_memory_is_looked_at_once_a_second() -> None:
    clock = Clock()
    memory = Memory(most_bytes=1, now=clock)
    assert memory.is_full()
    memory.most_bytes = 1 << 60
    assert memory.is_full()
    clock.seconds += 1
    assert not memory.is_full()


PATHS = [
    ("/static/midnight/deco.woff2", costs.STATIC),
    ("/", costs.PAGE),
    ("/play/", costs.PAGE),
    ("/games/amber-fox/", costs.PAGE),
    ("/history/", costs.COSTLY),
    ("/ladders/", costs.COSTLY),
    ("/games/amber-fox/replay/", costs.COSTLY),
    ("/games/amber-fox/record.json", costs.COSTLY),
    ("/account/sign-in/", costs.COSTLY),
    ("/healthz", costs.COSTLY),
]


@pytest.mark.parametrize(("path", "cost"), PATHS)
def test_costly_pages_cost_more(path: str, cost: float) -> None:
    assert costs.cost_of(path.encode()) == cost


@pytest.mark.parametrize(("path", "cost"), PATHS)
def test_nginx_takes_the_same_pages_for_costly(path: str, cost: float) -> None:
    text = (ROOT / "midnight" / "deploy" / "nginx.conf").read_text()
    lines = text.partition("map $uri $household_of_costly_page {")[2].partition("}")[0].splitlines()
    patterns = [line.split()[0].removeprefix("~") for line in lines if "~" in line]
    assert len(patterns) == 3
    assert any(re.match(pattern, path) for pattern in patterns) == (cost == costs.COSTLY)


def test_four_people_of_one_address_open_their_first_page_at_once() -> None:
    """With empty caches, as if each page loaded every file there is, and asked for five fragments."""
    (times,), (rate,) = (re.findall(text, SETTINGS) for text in (r"(\d+) \* REQUEST_RATE", r'"REQUEST_RATE", (\d+)'))
    files = [path for app in APPS for path in (ROOT / app / "static").rglob("*") if path.suffix in KINDS]
    assert len(files) > 30
    one = 6 * costs.PAGE + len(files) * costs.STATIC
    assert 4 * one <= int(times) * int(rate)


def test_a_household_out_of_tokens_is_told_when_they_come() -> None:
    admission = Admission()
    admission.rate = TokenBuckets(rate=2, burst=1, now=Clock())
    assert admission.check_request("192.0.2.1", b"/", is_socket=False) is None
    refusal = admission.check_request("192.0.2.1", b"/history/", is_socket=False)
    assert refusal is not None
    assert (refusal.kind, refusal.status, refusal.retry_after) == ("rate", 429, 2)
