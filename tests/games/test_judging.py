"""Records from outside: what each may cost, and that no one waits for them who did not bring one."""

import asyncio
import io
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient, Client

from games import judge_worker, judging, rules
from games.bots.selfplay import terms_for_bots
from games.judging import Busy, Judge, Judged
from games.rules import play
from games.rules.edition import ART, Collection, Edition
from games.rules.record import Record, make_record, write_record
from games.rules.terms import Terms
from games.views import replay as views

RECORDS = Path(__file__).resolve().parents[1] / "records"
SMALL = (RECORDS / "fr-2.jsonl").read_bytes()

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    """The one of this process: it takes a moment to start."""
    yield views.judge
    views.judge.close()


def edition_of(slots: int) -> Edition:
    """An edition whose cards are all collections of so many slots, ten of each kind of art at most."""
    needs = tuple(ART[number % len(ART)] for number in range(slots))
    known = terms_for_bots("fr", 4, bytes(32)).edition
    cards = tuple(Collection(f"wall-{number}", needs, tuple(range(1, slots + 1))) for number in range(24))
    art = tuple((kind, 10) for kind in ART)
    return replace(known, name="wall-1", art=art, cards=cards)


def void_game(agreed: Terms) -> Record:
    """A game that began and was ended by staff."""
    happened = list(play.setup(agreed))
    happened += list(play.void(rules.replay(agreed, happened), "staff", 0))
    return make_record("theirs", "2026-01-31T20:00:00Z", agreed, ["A", "B", "C", "D"], happened)


def wall(slots: int) -> bytes:
    agreed = replace(terms_for_bots("fr", 4, bytes(32)), edition=edition_of(slots), ranked=False)
    return write_record(void_game(agreed)).encode()


def bring(client: Client, data: bytes, address: str = "192.0.2.1") -> Any:
    return client.post("/replay/", {"record": io.BytesIO(data)}, REMOTE_ADDR=address)


def asked(judge: Judge, data: bytes, household: str = "here") -> Judged:
    return asyncio.run(judge.ask(data, "en", household))


def test_a_record_with_giant_cards_is_not_drawn(client: Client) -> None:
    attack = wall(60)
    assert len(attack) < 80_000
    began = time.process_time()
    response = bring(client, attack)
    assert response.status_code == 422
    assert "too large to be shown" in response.content.decode()
    assert time.process_time() - began < 2
    assert len(response.content) < 100_000


def test_the_largest_cards_that_are_drawn_make_no_large_page(client: Client) -> None:
    response = bring(client, wall(12))
    assert response.status_code == 200
    assert len(response.content) < judge_worker.PAGE_BYTES


def test_the_system_ends_what_costs_too_much() -> None:
    assert judge_worker.CPU_SECONDS <= 0.5
    judge = Judge(cpu_seconds=0.03)
    assert asked(judge, b"{}").kind == "faulty"
    process = judge._process
    assert process is not None
    before = cpu_seconds_with_children(process.pid)
    assert asked(judge, SMALL).kind == "costly"
    # The system's clock counts in hundredths, and beginning a process costs too.
    assert cpu_seconds_with_children(process.pid) - before < 0.03 + 0.2
    assert asked(judge, b"{}").kind == "faulty", "the judge goes on"
    assert judge._process is process
    judge.close()


def cpu_seconds_with_children(pid: int) -> float:
    """What a process and those that it waited for have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def test_costly_and_large_records_are_told_so(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    async def judged(self: Judge, *asked: object) -> Judged:
        return Judged("costly")

    monkeypatch.setattr(Judge, "ask", judged)
    response = bring(client, SMALL)
    assert response.status_code == 422
    assert "verify" in response.content.decode()


def test_a_full_queue_refuses_with_a_time_to_come_again(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "MOST_WAITING", 0)
    response = bring(client, SMALL)
    assert response.status_code == 503
    assert response["Retry-After"] == "5"
    assert "try again in a few seconds" in response.content.decode()


async def test_a_household_has_two_places_in_the_queue(judge: Judge) -> None:
    waiting = [asyncio.create_task(judge.ask(SMALL, "en", "here")) for _ in range(judging.MOST_OF_HOUSEHOLD)]
    await asyncio.sleep(0)
    with pytest.raises(Busy):
        await judge.ask(SMALL, "en", "here")
    elsewhere = await judge.ask(SMALL, "en", "elsewhere")
    assert elsewhere.kind == "drawn"
    assert [(await one).kind for one in waiting] == ["drawn"] * judging.MOST_OF_HOUSEHOLD
    assert (await judge.ask(SMALL, "en", "here")).kind == "drawn", "places are given back"


async def test_who_goes_away_frees_no_place_while_the_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, done = threading.Event(), threading.Event()

    def slowly(self: Judge, document: bytes, language: str) -> Judged:
        begun.set()
        done.wait(60)
        return Judged("costly")

    monkeypatch.setattr(Judge, "_ask", slowly)
    judge = Judge()
    gone = asyncio.create_task(judge.ask(SMALL, "en", "here"))
    await asyncio.to_thread(begun.wait, 60)
    gone.cancel()
    await asyncio.wait([gone])
    waiting = asyncio.create_task(judge.ask(SMALL, "en", "here"))
    await asyncio.sleep(0)
    with pytest.raises(Busy):
        await judge.ask(SMALL, "en", "here")
    done.set()
    assert (await waiting).kind == "costly"
    assert (await judge.ask(SMALL, "en", "here")).kind == "costly", "then both places are free"


async def test_other_pages_are_answered_while_a_record_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge holds its record until another page has come: that page waits for nothing of it."""
    came = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slowly(self: Judge, document: bytes, language: str) -> Judged:
        asyncio.run_coroutine_threadsafe(came.wait(), loop).result(60)
        return Judged("costly")

    monkeypatch.setattr(Judge, "_ask", slowly)
    client = AsyncClient()
    uploads = [
        asyncio.create_task(AsyncClient(REMOTE_ADDR=f"192.0.2.{n}").post("/replay/", {"record": io.BytesIO(SMALL)}))
        for n in range(4)
    ]
    assert (await client.get("/about/")).status_code == 200
    came.set()
    assert {(await upload).status_code for upload in uploads} == {422}


def test_a_judge_that_ended_has_a_successor(judge: Judge) -> None:
    assert asked(judge, SMALL).kind == "drawn"
    assert judge._process is not None
    judge._process.kill()
    judge._process.wait()
    assert asked(judge, SMALL).kind == "drawn"


def test_the_judge_ends_with_the_site(judge: Judge) -> None:
    assert asked(judge, SMALL).kind == "drawn"
    process = judge._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(60) == 0


def test_the_judge_speaks_the_language_of_the_page(client: Client) -> None:
    page = client.post("/replay/", {"record": io.BytesIO(SMALL)}, headers={"accept-language": "de"}).content.decode()
    assert "Das Tauschen beginnt." in page
    assert '<data value="total"></data>' not in page, "the script has its words"
    assert "<h1" in page


def test_four_attacks_at_once_are_refused_without_being_drawn(judge: Judge) -> None:
    attack = wall(60)
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda number: asked(judge, attack, f"house {number}"), range(4)))
    assert {answer.kind for answer in answers} == {"large"}
