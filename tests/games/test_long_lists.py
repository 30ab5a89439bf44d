"""The queue, the appeals and one's letters are listed to their last row, and each page asks as often as the others."""

import html
import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from games.models import Act, Appeal, Case, Letter, Reason, What
from games.moderation import letters, pages
from tests.games.night_watch import client_of, moderator

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
ROWS = 13


@pytest.fixture(autouse=True)
def _short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE", 5)


def the_cases(max_: User) -> list[int]:
    """Cases of which many are as urgent and as old as others; their numbers as they are to be listed."""
    now = timezone.now()
    people = [User.objects.create_user(f"Apache {number}") for number in range(ROWS)]
    made = [
        Case.objects.create(about=one, urgency=30 * (number % 2), opened=now - timedelta(hours=number // 6))
        for number, one in enumerate(people)
    ]
    return [case.pk for case in sorted(made, key=lambda case: (-case.urgency, case.opened, case.pk))]


def acts_on(max_: User) -> list[Act]:
    return [
        Act.objects.create(by=max_, person=max_, what=What.WARN, reason=Reason.SPAM, words=f"{number}")
        for number in range(ROWS)
    ]


def the_appeals(max_: User) -> list[int]:
    now = timezone.now()
    made = [Appeal.objects.create(act=act, person=max_, words="No.", at=now) for act in acts_on(max_)]
    return [one.pk for one in made]


def the_letters(max_: User) -> list[int]:
    now = timezone.now()
    made = [Letter.objects.create(person=max_, kind=Letter.Kind.ACT, act=act, at=now) for act in acts_on(max_)]
    return [letter.pk for letter in reversed(made)]


LISTS: dict[str, tuple[Callable[[User], list[int]], str]] = {
    "/moderation/": (the_cases, r'href="/moderation/cases/(\d+)/"'),
    "/moderation/appeals/": (the_appeals, r'<h2 id="appeal-(\d+)">'),
    "/letters/": (the_letters, r'<h2 id="letter-(\d+)">'),
}


def reader(address: str, max_: User) -> Client:
    client = client_of(max_ if address == "/letters/" else moderator())
    # What is written down once in a while is.
    client.get(address)
    return client


@pytest.mark.parametrize("address", LISTS)
def test_every_row_is_on_one_page_and_each_page_asks_as_often(address: str, max_: User) -> None:
    make, row = LISTS[address]
    page, listed = reader(address, max_), make(max_)
    found: list[int] = []
    asked: list[int] = []
    query = ""
    while True:
        with CaptureQueriesContext(
            connection,
        ) as questions:
            shown = page.get(address + query).content.decode()
        asked.append(len(questions))
        found += [int(number) for number in re.findall(row, shown)]
        more = re.search(r'id="more" rel="next" href="([^"]+)"', shown)
        if more is None:
            break
        query = html.unescape(more[1])
    assert found == listed
    assert len(asked) == 3
    assert len(set(asked)) == 1, asked


@pytest.mark.parametrize("address", LISTS)
@pytest.mark.parametrize("place", ["x", "1", "1-2-3-4-5", "9" * 30 + "-1-1", "999999999999999999-999999999999999999-1"])
def test_what_is_no_place_in_a_list_leads_to_its_beginning_or_its_end(address: str, place: str, max_: User) -> None:
    assert reader(address, max_).get(address, {"after": place}).status_code == 200


def test_the_queue_refreshes_the_page_that_one_looks_at(max_: User) -> None:
    listed = the_cases(max_)
    page = reader("/moderation/", max_)
    first = page.get("/moderation/").content.decode()
    more = re.search(r'id="more" rel="next" href="([^"]+)"', first)
    assert more
    second = page.get("/moderation/" + html.unescape(more[1])).content.decode()
    again = re.search(r'hx-get="(/moderation/[^"]*)"', second)
    assert again
    fragment = page.get(html.unescape(again[1]), headers={"HX-Request": "true"}).content.decode()
    assert [int(number) for number in re.findall(LISTS["/moderation/"][1], fragment)] == listed[5:10]


def test_only_letters_that_were_shown_are_read(max_: User) -> None:
    the_letters(max_)
    client_of(max_).get("/letters/")
    assert letters.unread(max_.pk) == ROWS - 5
