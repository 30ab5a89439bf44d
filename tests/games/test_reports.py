"""Reports gather in one case a person; the queue is worked on by one moderator a case, who has no side in it."""

import html
import importlib
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import closing
from accounts.models import User
from games import chat, log, rooms, sweep
from games.models import Act, Case, Game, Letter, Message, Reason, Report
from games.moderation import acts, appeals, cases, forms, reports, roles, undoing
from games.moderation.acts import Why
from games.moderation.reports import Moment
from games.moderation.weighing import LIVE, WEIGHT
from tests.games.finished import finished
from tests.games.night_watch import client_of, decided, game_of, moderator, reported, somebody

pytestmark = pytest.mark.django_db


def code(raised: pytest.ExceptionInfo[ValidationError]) -> str | None:
    return raised.value.code


def test_reports_about_one_person_gather_in_one_case(irma: User, max_: User) -> None:
    fandor = somebody("Fandor")
    first, second = reported(irma, max_), reported(fandor, max_, Reason.CHEATING)
    assert first.case == second.case
    assert reported(irma, fandor).case != first.case


def test_the_moment_of_the_game_comes_along_by_itself(irma: User, max_: User) -> None:
    game = game_of(irma, max_)
    sweep.wake(game.pk)
    assert reported(irma, max_, game=game).seq == len(log.since(game.pk, 0).lines) == 1


def test_a_reported_message_is_kept_as_it_was_said(irma: User, max_: User) -> None:
    message = Message.objects.create(channel="g-x", audience="players", author=max_, words="You fool")
    report = reports.file_report(irma, max_, Reason.INSULT, moment=Moment(message=message))
    message.delete()
    assert report.said == "You fool"


def test_the_gravest_comes_first_and_of_equals_the_oldest(irma: User, max_: User) -> None:
    others = [somebody(f"Apache {number}") for number in range(3)]
    reported(irma, others[0], Reason.STALLING)
    reported(irma, others[1], Reason.STALLING)
    reported(irma, others[2], Reason.THREAT)
    assert [case.about for case in cases.queue().rows] == [others[2], others[0], others[1]]


def test_whoever_is_in_a_running_game_with_it_waits_less(irma: User, max_: User) -> None:
    assert reported(irma, max_, game=game_of(irma, max_)).case.urgency == WEIGHT["insult"] + LIVE


def test_what_is_urgent_because_a_game_runs_is_so_until_the_last_one_has_ended(irma: User, max_: User) -> None:
    first, second = game_of(irma, max_), game_of(max_, somebody("Fandor"))
    case, alone = reported(irma, max_, game=first).case, WEIGHT["insult"]
    reported(irma, max_, game=second)
    _end(first)
    assert reports.weigh_ended() == 0
    assert Case.objects.get(pk=case.pk).urgency == alone + LIVE
    _end(second)
    assert [reports.weigh_ended() for _again in range(2)] == [1, 0]
    assert Case.objects.get(pk=case.pk).urgency == alone


def test_open_cases_from_before_are_weighed_anew(irma: User, max_: User) -> None:
    open_, decided_ = reported(irma, max_).case, reported(irma, somebody("Fandor")).case
    Case.objects.update(urgency=99)
    Case.objects.filter(pk=decided_.pk).update(decided=timezone.now())
    importlib.import_module("games.migrations.0028_case_live").weigh_anew(apps, connection.schema_editor())
    assert reports.weigh_ended() == 1
    assert Case.objects.get(pk=open_.pk).urgency == WEIGHT["insult"]


def test_many_who_say_the_same_count_more_than_one_who_says_it_often(irma: User, max_: User) -> None:
    for _ in range(3):
        case = reported(irma, max_, game=None if _ == 0 else _ended(irma, max_)).case
    alone = Case.objects.get(pk=case.pk).urgency
    assert alone == WEIGHT["insult"]
    reported(somebody("Fandor"), max_)
    assert Case.objects.get(pk=case.pk).urgency > alone


def _ended(*people: User) -> Game:
    return _end(game_of(*people))


def _end(game: Game) -> Game:
    Game.objects.filter(pk=game.pk).update(ended=timezone.now())
    game.refresh_from_db()
    return game


def test_the_fortieth_report_asks_no_more_than_the_second_and_a_false_reporter_counts_nothing(max_: User) -> None:
    def questions(number: int) -> int:
        with CaptureQueriesContext(connection) as asked:
            reported(witnesses[number], max_)
        return len(asked)

    witnesses = [somebody(f"Witness {number}") for number in range(6)]
    questions(0)
    few = questions(1)
    assert [questions(number) for number in (2, 3, 4, 5)] == [few] * 4
    case = Case.objects.get()
    Report.objects.update(verdict=Report.Verdict.ABUSIVE)
    assert reports.urgency(case) == 0
    Report.objects.filter(reporter=witnesses[3]).update(verdict="")
    assert reports.urgency(case) == WEIGHT["insult"]


def test_nobody_reports_themselves_or_the_same_twice(irma: User, max_: User) -> None:
    with pytest.raises(ValidationError) as raised:
        reported(irma, irma)
    assert code(raised) == "report_yourself"
    reported(irma, max_)
    with pytest.raises(ValidationError) as raised:
        reported(irma, max_)
    assert code(raised) == "reported_already"
    assert Report.objects.count() == 1


def test_a_day_has_its_number_of_reports(irma: User) -> None:
    for number in range(reports.MOST_A_DAY):
        reported(irma, somebody(f"Apache {number}"))
    with pytest.raises(ValidationError) as raised:
        reported(irma, somebody("One more"))
    assert code(raised) == "report_flood"


# The queue ------------------------------------------------------------------------------------------------------------


def test_a_case_is_one_moderators_until_it_is_given_back_or_left_lying(irma: User, max_: User, juve: User) -> None:
    case, other = reported(irma, max_).case, moderator("Lupin")
    cases.claim(case, juve)
    with pytest.raises(ValidationError) as raised:
        cases.claim(case, other)
    assert code(raised) == "case_taken"
    Case.objects.update(claimed_at=timezone.now() - cases.CLAIMED_FOR - timedelta(seconds=1))
    assert cases.claim(case, other).claimed_by == other
    cases.release(case, other)
    assert cases.claim(case, juve).claimed_by == juve


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_of_many_who_claim_a_case_at_once_one_gets_it() -> None:
    case = reported(somebody("Irma Vep"), somebody("Max")).case
    watch = [moderator(f"Inspector {number}") for number in range(6)]

    def try_to(one: User) -> bool:
        try:
            cases.claim(case, one)
        except ValidationError:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(len(watch)) as pool:
        assert sum(pool.map(try_to, watch)) == 1


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_reports_of_one_moment_find_one_case() -> None:
    about = somebody("Max")
    reporters = [somebody(f"Witness {number}") for number in range(6)]

    def report(one: User) -> None:
        try:
            reported(one, about)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(reporters)) as pool:
        list(pool.map(report, reporters))
    assert Case.objects.get().reports.count() == 6


def test_who_sat_at_the_table_or_has_a_side_decides_nothing(irma: User, max_: User, juve: User) -> None:
    at_the_table = reported(irma, max_, game=game_of(irma, max_, juve)).case
    about_a_moderator = reported(irma, juve).case
    own = reported(juve, irma).case
    for case in (at_the_table, about_a_moderator, own):
        with pytest.raises(ValidationError) as raised:
            cases.claim(case, juve)
        assert code(raised) == "involved"


def test_a_case_shows_the_moment_in_the_replay_the_ratings_and_the_conduct(irma: User, max_: User, juve: User) -> None:
    game = _ended(irma, max_)
    Game.objects.filter(pk=game.pk).update(head=42)
    game.seats.filter(user=max_).update(conduct="left")
    page = client_of(juve).get(f"/moderation/cases/{reported(irma, max_, game=game).case.pk}/").content.decode()
    assert f"/games/{game.code}/replay/#e=42" in page
    assert "left the game 1" in page
    assert "1500?" in page


# The decision ---------------------------------------------------------------------------------------------------------


def test_everybody_who_reported_hears_once_that_it_was_decided(irma: User, max_: User, juve: User) -> None:
    reported(irma, max_)
    case = cases.claim(reported(irma, max_, game=_ended(irma, max_)).case, juve)
    decided(case, juve, Report.Verdict.UPHELD)
    assert Letter.objects.get().person == irma
    assert set(Report.objects.values_list("verdict", flat=True)) == {"upheld"}
    assert reported(irma, max_).case != case


@pytest.mark.both_databases
def test_each_report_has_its_verdict_and_a_false_one_counts_against_nobody_else(
    irma: User, max_: User, juve: User
) -> None:
    fandor, apache, lupin = somebody("Fandor"), somebody("Apache"), moderator("Lupin")
    right, wrong, mean = [reported(one, max_) for one in (irma, fandor, apache)]
    case, verdict = cases.claim(right.case, juve), Report.Verdict
    found = {right.pk: verdict.UPHELD, wrong.pk: verdict.UNFOUNDED, mean.pk: verdict.ABUSIVE}
    act = cases.decide(case, juve, found, "He lied.")
    case.refresh_from_db()
    assert case.outcome == Case.Outcome.ACTED
    assert [reports.abusive_reports(one.pk) for one in (irma, fandor, apache)] == [0, 0, 1]
    told = {one: client_of(one).get("/letters/").content.decode() for one in (irma, fandor, apache)}
    assert all("Your report has been looked at" in page for page in told.values())
    assert ["counts against you" in page for page in told.values()] == [False, False, True]
    assert "He lied." not in told[apache]
    assert not appeals.may_appeal(act, irma)
    appeals.decide(appeals.appeal(act, apache, "I saw it."), lupin, granted=True)
    assert reports.abusive_reports(apache.pk) == 0
    assert cases.queue().rows == [case]


def last_shown(page: Client, case: Case) -> str:
    """The latest report that the case's page shows, as its form sends it back."""
    found = re.search(r'name="last" value="(\d+)"', page.get(f"/moderation/cases/{case.pk}/").content.decode())
    assert found
    return found[1]


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_what_came_in_while_somebody_decided_waits_in_a_case_of_its_own() -> None:
    irma, max_, fandor, juve = *(somebody(name) for name in ("Irma Vep", "Max", "Fandor")), moderator()
    first, page = reported(irma, max_), client_of(juve)
    cases.claim(first.case, juve)
    last = last_shown(page, first.case)
    later = [reported(fandor, max_, Reason.THREAT), reported(somebody("Barbe"), max_, game=game_of(max_, fandor))]
    answer = page.post(f"/moderation/cases/{first.case.pk}/decide/", {f"report_{first.pk}": "upheld", "last": last})
    assert answer.status_code == 302
    assert Letter.objects.get().person == irma
    new = Case.objects.get(decided=None)
    assert set(new.reports.all()) == set(later)
    weight = WEIGHT["threat"] + WEIGHT["insult"] // 5 + LIVE
    assert (new.about, new.opened, new.claimed_by, new.urgency) == (max_, later[0].at, None, weight)
    assert Case.objects.get(pk=first.case.pk).reports.get().verdict == "upheld"
    assert reported(irma, max_).case == new


def test_one_verdict_closes_a_case_of_more_reports_than_a_page_asks_about(
    irma: User, max_: User, juve: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "MOST_VERDICTS", 2)
    raid = [reported(somebody(f"Apache {number}"), max_) for number in range(4)]
    case, page = cases.claim(reported(irma, max_).case, juve), client_of(juve)
    address, last = f"/moderation/cases/{case.pk}/", last_shown(page, case)
    assert len(re.findall(r'<select name="report_', page.get(address).content.decode())) == 2
    chosen = {f"report_{int(last)}": "upheld", "last": last}
    assert page.post(f"{address}decide/", chosen).status_code == 422
    assert page.post(f"{address}decide/", chosen | {"rest": "abusive"}).status_code == 302
    assert [Report.objects.get(pk=report.pk).verdict for report in raid] == ["abusive"] * 4
    assert Report.objects.get(pk=int(last)).verdict == "upheld"


def test_what_is_left_open_has_the_verdict_for_all_others_and_none_without_it(
    irma: User, max_: User, juve: User
) -> None:
    first, second = reported(irma, max_), reported(somebody("Fandor"), max_)
    case, page = cases.claim(first.case, juve), client_of(juve)
    address, chosen = f"/moderation/cases/{case.pk}/decide/", {f"report_{first.pk}": "upheld", "last": second.pk}
    assert page.post(address, chosen).status_code == 422
    assert page.post(address, chosen | {"rest": "everything"}).status_code == 422
    assert page.post(address, {"rest": "unfounded"}).status_code == 422
    assert page.post(address, {"rest": "unfounded", "last": first.pk - 1}).status_code == 302
    assert not Report.objects.exclude(verdict="").exists()
    page.post(address, chosen | {"rest": "unfounded"})
    assert list(case.reports.order_by("pk").values_list("verdict", flat=True)) == ["upheld", "unfounded"]


def test_only_whoever_works_on_a_case_decides_it_and_once(irma: User, max_: User, juve: User) -> None:
    case = reported(irma, max_).case
    with pytest.raises(ValidationError) as raised:
        decided(case, juve, Report.Verdict.UPHELD)
    assert code(raised) == "not_claimed"
    cases.claim(case, juve)
    decided(case, juve, Report.Verdict.UNFOUNDED)
    with pytest.raises(ValidationError) as raised:
        decided(case, juve, Report.Verdict.UPHELD)
    assert code(raised) == "case_decided"


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_what_a_false_reporter_said_weighs_nothing_in_other_cases_until_that_is_taken_back() -> None:
    mean, irma, max_, fandor, juve = *(somebody(name) for name in ("Apache", "Irma Vep", "Max", "Fandor")), moderator()
    reported(irma, max_, Reason.SPAM)
    other = reported(mean, max_, Reason.THREAT, game=game_of(mean, max_)).case
    urgent = Case.objects.get(pk=other.pk).urgency
    case = cases.claim(reported(mean, fandor).case, juve)
    act = decided(case, juve, Report.Verdict.ABUSIVE)
    assert Case.objects.get(pk=other.pk).urgency == WEIGHT["spam"]
    undoing.undo(act, juve)
    assert Case.objects.get(pk=other.pk).urgency == urgent
    assert Case.objects.get(pk=case.pk).urgency == WEIGHT["insult"]


def test_a_stolen_session_decides_no_more_cases_than_it_acts(
    irma: User, max_: User, juve: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roles, "MOST_ACTS", 1)
    decided(cases.claim(reported(irma, max_).case, juve), juve, Report.Verdict.UNFOUNDED)
    again = cases.claim(reported(irma, max_).case, juve)
    with pytest.raises(ValidationError) as raised:
        decided(again, juve, Report.Verdict.UNFOUNDED)
    assert code(raised) == "too_many_acts"
    assert Letter.objects.count() == 1


def test_false_reports_count_until_nobody_listens(irma: User, max_: User, juve: User) -> None:
    for number in range(reports.MOST_ABUSIVE):
        case = cases.claim(reported(irma, somebody(f"Apache {number}")).case, juve)
        decided(case, juve, Report.Verdict.ABUSIVE)
    with pytest.raises(ValidationError) as raised:
        reported(irma, max_)
    assert code(raised) == "report_barred"


# The pages ------------------------------------------------------------------------------------------------------------


def test_a_report_is_filed_on_its_page_and_the_person_is_not_told_by_whom(irma: User, max_: User, juve: User) -> None:
    page = client_of(irma)
    address = f"/report/{max_.pk}/?game={game_of(irma, max_).code}"
    assert "Report Max" in page.get(address).content.decode()
    assert page.post(address, {"reason": "threat", "words": "He knows where I live."}).status_code == 302
    assert page.post(address, {"reason": "threat"}).status_code == 422
    assert Report.objects.get().game is not None
    waiting = client_of(juve).get("/moderation/").content.decode()
    assert "Max" in waiting
    assert "Irma Vep" not in client_of(max_).get("/letters/").content.decode().partition("<main")[2]


def flag(person: User, game: Game | None = None) -> str:
    """The address that a flag beside this person leads to."""
    return f'data-report href="/report/{person.pk}/{f"?game={game.code}" if game else ""}"'


def test_whoever_played_is_reported_from_the_story_the_replay_and_their_own_page(irma: User, max_: User) -> None:
    game = finished("fr-3-ranked", [irma, max_, somebody("Fandor")])
    page = client_of(irma)
    for address in (f"/games/{game.code}/story/", f"/games/{game.code}/replay/"):
        shown = page.get(address).content.decode()
        assert flag(max_, game) in shown
        assert flag(irma, game) not in shown
        assert "data-report" not in Client().get(address).content.decode()
    assert flag(max_) in page.get("/people/Max/").content.decode()


def game_flag(game: Game) -> str:
    return f'data-report href="/report/games/{game.code}/"'


def test_a_game_is_reported_with_its_moment_and_who_is_meant_is_chosen_there(irma: User, max_: User) -> None:
    fandor, barbe = somebody("Fandor"), somebody("Barbe")
    game = finished("fr-3-ranked", [irma, max_, fandor])
    page, address = client_of(irma), f"/report/games/{game.code}/"
    for shown in (f"/games/{game.code}/story/", f"/games/{game.code}/replay/"):
        assert game_flag(game) in page.get(shown).content.decode()
    sheet = page.get(f"{address}?seq=7").content.decode()
    assert "Report this game" in sheet
    assert f'hx-post="{address}?seq=7"' in sheet
    assert re.findall(r'name="about" value="(\d+)"', sheet) == [str(max_.pk), str(fandor.pk)]
    for nobody in ("", irma.pk, barbe.pk, "Max"):
        assert page.post(f"{address}?seq=7", {"about": nobody, "reason": "collusion"}).status_code == 422
    assert page.post(f"{address}?seq=7", {"about": fandor.pk, "reason": "collusion"}).status_code == 302
    report = Report.objects.get()
    assert (report.about, report.game, report.seq, report.reason) == (fandor, game, 7, "collusion")


def test_a_game_in_which_nobody_else_sits_has_no_flag(irma: User) -> None:
    alone, page = finished("fr-3-ranked", [irma]), client_of(irma)
    assert game_flag(alone) not in page.get(f"/games/{alone.code}/story/").content.decode()
    assert "There is no one left to report" in page.get(f"/report/games/{alone.code}/").content.decode()
    assert game_flag(alone) in client_of(somebody("Max")).get(f"/games/{alone.code}/story/").content.decode()
    assert Client().get(f"/report/games/{alone.code}/").status_code == 302


def test_whoever_sits_in_a_room_is_reported_with_the_game_that_is_played_there(irma: User, max_: User) -> None:
    room, page = rooms.open_room(irma), client_of(irma)
    rooms.sit(room, max_)
    assert flag(max_) in page.get(f"/rooms/{room.code}/").content.decode()
    for one in (irma, max_):
        rooms.agree(room, one)
    game = Game.objects.get(room=room)
    assert flag(max_, game) in page.get(f"/rooms/{room.code}/seats/").content.decode()


def test_whoever_has_closed_their_account_is_named_only_where_they_played(irma: User, max_: User) -> None:
    game, page = finished("fr-3-ranked", [irma, max_, somebody("Fandor")]), client_of(irma)
    closing.close(max_)
    assert page.get(f"/report/{max_.pk}/").status_code == 404
    assert page.get(f"/report/{max_.pk}/?game={game.code}").status_code == 200


def test_the_moment_is_the_one_at_which_somebody_began_to_report(irma: User, max_: User) -> None:
    game = finished("fr-3-ranked", [irma, max_, somebody("Fandor")])
    page = client_of(irma)
    assert f"game={game.code}&amp;seq=7" in page.get(f"/report/{max_.pk}/?game={game.code}&seq=7").content.decode()
    assert f"seq={game.head}" in page.get(f"/report/{max_.pk}/?game={game.code}").content.decode()
    page.post(f"/report/{max_.pk}/?game={game.code}&seq=7", {"reason": "cheating"})
    client_of(somebody("Apache")).post(f"/report/{max_.pk}/?game={game.code}&seq=999999", {"reason": "cheating"})
    assert [report.seq for report in Report.objects.order_by("pk")] == [7, game.head]


def test_a_game_of_others_makes_no_report_look_urgent(irma: User, max_: User) -> None:
    game = game_of(irma, somebody("Fandor"))
    page, address = client_of(irma), f"/report/{max_.pk}/?game={game.code}"
    page.post(address, {"reason": "insult"})
    report = Report.objects.get()
    assert (report.game, report.seq, report.case.urgency) == (None, None, WEIGHT["insult"])
    Message.objects.create(channel=chat.channel_of(game), audience="watchers", author=max_, words="You fool")
    page.post(address, {"reason": "insult"})
    assert Report.objects.latest("pk").game == game


@pytest.mark.both_databases
def test_nobody_learns_by_its_number_what_was_said_among_others_or_was_hidden(irma: User, max_: User) -> None:
    game, fandor = game_of(irma, max_), somebody("Fandor")
    of_game, room = chat.channel_of(game), rooms.open_room(somebody("Barbe"), public=False)
    said = {
        text: Message.objects.create(channel=channel, audience=audience, author=max_, words=text, hidden=hidden)
        for text, channel, audience, hidden in (
            ("My plan is the safe", of_game, "players", False),
            ("Sit down, Irma", chat.channel_of_room(room), "players", False),
            ("You fool", of_game, "watchers", True),
            ("An insult", of_game, "players", True),
            ("What a race", of_game, "watchers", False),
            ("Gone long ago", "g-nowhere", "watchers", False),
        )
    }
    seen = {"Fandor": {"What a race"}, "Irma Vep": {"My plan is the safe"}}
    for person in (fandor, irma):
        page = client_of(person)
        for text, message in said.items():
            address, may = f"/report/{max_.pk}/?message={message.pk}", text in seen[person.name]
            shown = page.get(address).content.decode()
            assert (text in shown, f'hx-post="{address}"' in shown) == (may, may), text
            page.post(address, {"reason": "insult"})
            report = Report.objects.latest("pk")
            assert (report.message, report.said) == ((message.pk, text) if may else (None, ""))
            report.delete()


def test_a_case_that_another_takes_says_so_by_itself_and_so_does_a_new_report(
    irma: User, max_: User, juve: User
) -> None:
    case, page, htmx = reported(irma, max_).case, client_of(juve), {"HX-Request": "true"}
    address = f"/moderation/cases/{case.pk}/"
    asked = re.search(r'hx-get="(/moderation/cases/[^"]+)"', page.get(address).content.decode())
    assert asked
    again = html.unescape(asked[1])
    assert "Work on this" in page.get(again, headers=htmx).content.decode()
    cases.claim(case, moderator("Lupin"))
    shown = page.get(again, headers=htmx).content.decode()
    assert "Lupin works on this" in shown
    assert "Work on this" not in shown
    Case.objects.update(claimed_by=juve)
    assert page.get(again, headers=htmx).headers["HX-Refresh"] == "true"
    Case.objects.update(claimed_by=None)
    reported(somebody("Fandor"), max_)
    assert "Another report has come in" in page.get(again, headers=htmx).content.decode()


def test_a_moderator_works_through_a_case_on_its_page(irma: User, max_: User, juve: User) -> None:
    case, page = reported(irma, max_).case, client_of(juve)
    assert page.post(f"/moderation/cases/{case.pk}/claim/").status_code == 302
    shown = page.get(f"/moderation/cases/{case.pk}/").content.decode()
    assert "He shouts." in shown
    answer = page.post(f"/moderation/cases/{case.pk}/act/", {"what": "mute", "hours": "24", "reason": "insult"})
    assert answer.status_code == 302
    max_.refresh_from_db()
    assert max_.is_muted
    report = case.reports.get()
    assert page.post(f"/moderation/cases/{case.pk}/decide/", {}).status_code == 422
    page.post(f"/moderation/cases/{case.pk}/decide/", {f"report_{report.pk}": "upheld", "last": report.pk})
    assert not cases.queue().rows
    assert "Your report has been looked at" in client_of(irma).get("/letters/").content.decode()


def test_a_reported_message_is_hidden_from_the_case(irma: User, max_: User, juve: User) -> None:
    message = Message.objects.create(channel="g-x", audience="players", author=max_, words="You fool")
    case = reports.file_report(irma, max_, Reason.INSULT, moment=Moment(message=message)).case
    address, page, form = (
        f"/moderation/messages/{message.pk}/hide/",
        client_of(juve),
        {"reason": "insult", "case": case.pk},
    )
    page.post(address, form)
    message.refresh_from_db()
    assert not message.hidden
    cases.claim(case, juve)
    assert address in page.get(f"/moderation/cases/{case.pk}/").content.decode()
    page.post(address, form)
    message.refresh_from_db()
    assert message.hidden


@pytest.mark.both_databases
def test_whose_case_another_works_on_is_acted_on_there_and_nowhere_else_but_for_a_suspension() -> None:
    irma, max_, juve, lupin = somebody("Irma Vep"), somebody("Max"), moderator(), moderator("Lupin")
    case, tomorrow = cases.claim(reported(irma, max_).case, juve), timezone.now() + timedelta(days=1)
    answer = client_of(lupin).post(
        f"/moderation/people/{max_.pk}/", {"what": "warn", "hours": "24", "reason": "insult"}
    )
    assert answer.status_code == 422
    assert "Juve works on a case about this person." in answer.content.decode()
    assert not Act.objects.exists()
    assert acts.suspend(lupin, max_, tomorrow, Why(Reason.THREAT))
    assert acts.warn(juve, max_, Why(Reason.INSULT))
    cases.release(case, juve)
    assert acts.warn(lupin, max_, Why(Reason.INSULT))


@pytest.mark.both_databases
def test_everybody_who_heard_of_a_decision_hears_once_that_it_is_taken_back() -> None:
    irma, max_, juve = somebody("Irma Vep"), somebody("Max"), moderator()
    apache, fandor = somebody("Apache"), somebody("Fandor")
    right, again, mean = reported(irma, max_), reported(irma, max_, game=_ended(irma, max_)), reported(apache, max_)
    case, verdict = cases.claim(right.case, juve), Report.Verdict
    found = {right.pk: verdict.UPHELD, again.pk: verdict.UPHELD, mean.pk: verdict.ABUSIVE}
    act = cases.decide(case, juve, found)
    reported(fandor, somebody("Barbe"))
    undoing.undo(act, juve, "Only for Apache.")
    taken_back = Letter.objects.filter(kind="undone").order_by("person__name")
    assert [(letter.person, letter.words) for letter in taken_back] == [(apache, "Only for Apache."), (irma, "")]
    assert "It will be looked at again." in client_of(irma).get("/letters/").content.decode()
    assert "It will be looked at again." not in client_of(apache).get("/letters/").content.decode()
    second = decided(cases.claim(case, juve), juve, verdict.ABUSIVE)
    undoing.undo(second, juve)
    assert Letter.objects.filter(kind="undone", person=irma).count() == 2


def test_another_moderators_case_is_refused_without_a_change(irma: User, max_: User, juve: User) -> None:
    case = cases.claim(reported(irma, max_).case, juve)
    page = client_of(moderator("Lupin"))
    answer = page.post(f"/moderation/cases/{case.pk}/act/", {"what": "mute", "hours": "24", "reason": "insult"})
    assert answer.status_code == 422
    assert "Another moderator works on this case" in answer.content.decode()
    max_.refresh_from_db()
    assert not max_.is_muted


def test_a_visitor_signs_in_before_reporting(max_: User, client: Client) -> None:
    assert client.get(f"/report/{max_.pk}/").status_code == 302


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_a_game_whose_others_are_gone_says_so(irma: User, max_: User, headers: dict[str, str]) -> None:
    game = game_of(irma, max_)
    closing.delete(max_)
    answer = client_of(irma).get(f"/report/games/{game.code}/", headers=headers)
    assert answer.status_code == 200
    assert "There is no one left to report in this game" in answer.content.decode()
    assert "<form" not in answer.content.decode().partition("<main")[2].partition("</main")[0]
