"""What makes a case urgent: trusted voices, and never the number of guests or of new accounts."""

import pytest
from allauth.usersessions.models import UserSession
from django.utils import timezone

from accounts.models import User
from games.models import Case, Reason, Report
from games.moderation import cases, reports
from games.moderation.weighing import LIVE, MOST, WEIGHT, Kind
from tests.games.night_watch import client_of, game_of, moderator, reported, somebody

pytestmark = pytest.mark.django_db


def from_house(person: User, address: str) -> User:
    key = f"{person.pk}"
    UserSession.objects.create(user=person, ip=address, session_key=key, user_agent="", last_seen_at=timezone.now())
    return person


def guest(address: str = "192.0.2.7") -> User:
    return from_house(User.objects.create_guest(), address)


def newcomer(number: int, address: str) -> User:
    return from_house(User.objects.create_user(f"Newcomer {number}"), address)


def urgency_of(about: User) -> int:
    return Case.objects.get(about=about).urgency


def test_sixty_guests_of_one_address_are_one_voice(max_: User) -> None:
    reported(guest(), max_, Reason.THREAT)
    alone = urgency_of(max_)
    for _ in range(59):
        reported(guest(), max_, Reason.THREAT)
    assert urgency_of(max_) == alone <= MOST[Kind.GUEST]


def test_no_number_of_guests_lifts_a_case_above_one_players_word(max_: User) -> None:
    irma, other = somebody("Irma Vep"), somebody("Fandor")
    reported(irma, other, Reason.INSULT)
    game = game_of(*[guest(f"198.51.100.{number}") for number in range(4)])
    for number in range(60):
        reported(guest(f"203.0.113.{number}"), max_, Reason.THREAT, game=game)
    assert urgency_of(max_) == MOST[Kind.GUEST] == 20
    assert [case.about for case in cases.queue().rows] == [other, max_]


def test_fresh_accounts_of_one_household_are_one_voice(max_: User) -> None:
    reported(newcomer(0, "192.0.2.7"), max_, Reason.THREAT)
    alone = urgency_of(max_)
    for number in range(1, 30):
        reported(newcomer(number, "192.0.2.7"), max_, Reason.THREAT)
    assert urgency_of(max_) == alone == 35
    for number in range(30, 60):
        reported(newcomer(number, f"198.51.100.{number}"), max_, Reason.THREAT)
    assert urgency_of(max_) == MOST[Kind.NEWCOMER] < WEIGHT[Reason.THREAT]


def test_an_established_players_word_counts_whole(max_: User) -> None:
    irma = somebody("Irma Vep")
    reported(irma, max_, Reason.THREAT, game=game_of(irma, max_))
    assert urgency_of(max_) == WEIGHT[Reason.THREAT] + LIVE
    for number in range(5):
        reported(somebody(f"Witness {number}"), max_, Reason.INSULT)
    assert urgency_of(max_) == WEIGHT[Reason.THREAT] + LIVE + 5 * WEIGHT[Reason.INSULT] // 5


def test_guests_add_a_little_to_a_players_word(max_: User) -> None:
    reported(somebody("Irma Vep"), max_, Reason.INSULT)
    for number in range(3):
        reported(guest(f"198.51.100.{number}"), max_, Reason.INSULT)
    assert urgency_of(max_) == 30 + 3 * 12 // 5


def test_a_case_is_weighed_anew_when_a_moderator_takes_it(max_: User) -> None:
    reporter = newcomer(0, "192.0.2.7")
    case = reported(reporter, max_, Reason.INSULT).case
    assert urgency_of(max_) == 21
    User.objects.filter(pk=reporter.pk).update(established_at=timezone.now())
    cases.claim(case, moderator())
    assert urgency_of(max_) == 30


def test_staff_reads_why_a_case_ranks_where_it_does(max_: User) -> None:
    irma = somebody("Irma Vep")
    case = reported(irma, max_, Reason.INSULT, game=game_of(irma, max_)).case
    for number in range(12):
        reported(guest(f"198.51.100.{number}"), max_, Reason.THREAT)
    page = client_of(moderator()).get(f"/moderation/cases/{case.pk}/").content.decode()
    assert (
        "1 established player: 30; Guests of 12 households, 20 at most: 20; A game that was reported still runs: 20"
        in page
    )
    assert "(guest)" in page
    assert sum(part.points for part in reports.parts(case)) == urgency_of(max_) == 70


def test_a_household_is_kept_as_a_mark_that_links_no_two_cases(max_: User) -> None:
    reporter, other = guest("192.0.2.7"), somebody("Fandor")
    reported(reporter, max_)
    reported(reporter, other)
    marks = set(Report.objects.values_list("household", flat=True))
    assert len(marks) == 2
    assert not any("192.0.2.7" in mark or not mark for mark in marks)
