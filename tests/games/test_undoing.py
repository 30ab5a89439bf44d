"""Undoing: each act has an undo that is an act of its own and leaves things as before, or says why it has none."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from games import quick, rooms, sweep
from games.models import FINAL, Act, Letter, Message, Reason, Report, What
from games.moderation import acts, cases, undoing
from games.moderation.acts import Why
from tests.games.night_watch import claimed, client_of, decided, game_of, moderator, refused, reported, somebody

pytestmark = pytest.mark.django_db
WHY = Why(Reason.INSULT, "Not like this.")


def test_what_is_undone_is_as_before_and_the_log_has_both(juve: User, max_: User) -> None:
    tomorrow = timezone.now() + timedelta(days=1)
    done = [
        acts.warn(juve, max_, WHY),
        acts.mute(juve, max_, tomorrow, WHY),
        acts.bar(juve, max_, tomorrow, WHY),
        acts.suspend(juve, max_, tomorrow, WHY),
        acts.rename(juve, max_, WHY),
    ]
    for act in done:
        max_.refresh_from_db()
        undoing.undo(Act.objects.get(pk=act.pk), juve)
    max_.refresh_from_db()
    assert (max_.name, max_.is_muted, max_.is_barred, max_.is_suspended) == ("Max", False, False, False)
    assert Act.objects.filter(what=What.UNDO).count() == 5
    assert refused(lambda: undoing.undo(done[1], juve)) == "undone_already"


def test_undoing_one_of_two_leaves_the_other(juve: User, max_: User) -> None:
    short, long = timezone.now() + timedelta(hours=1), timezone.now() + timedelta(days=9)
    first = acts.mute(juve, max_, short, WHY)
    second = acts.mute(juve, max_, long, WHY)
    undoing.undo(second, juve)
    max_.refresh_from_db()
    assert max_.muted_until == short
    undoing.undo(first, juve)
    max_.refresh_from_db()
    assert not max_.is_muted


def test_what_two_moderators_hid_is_shown_again_when_both_undo_it(juve: User, max_: User) -> None:
    message = Message.objects.create(channel="g-x", audience="players", author=max_, words="You fool")
    for act in [acts.hide(one, message, WHY) for one in (juve, moderator("Lupin"))]:
        message.refresh_from_db()
        assert message.hidden
        undoing.undo(act, juve)
    message.refresh_from_db()
    assert not message.hidden


def test_every_act_has_an_undo_or_says_why_not() -> None:
    assert set(undoing.UNDO) == set(What) - set(FINAL)


def test_the_table_of_acts_has_a_line_for_each_and_says_which_are_final() -> None:
    page = (Path(undoing.__file__).parent / "ACTS.md").read_text()
    lines = dict(re.findall(r"^\| (\w+) \|.*\| (.*) \|$", page, re.M))
    del lines["act"]
    assert set(lines) == set(What)
    assert {what for what, undo in lines.items() if undo.startswith("**none**")} == set(FINAL)


def test_what_cannot_be_undone_is_said_before_and_after(juve: User, max_: User) -> None:
    game, page = game_of(max_, somebody("Irma Vep")), client_of(juve)
    address = f"/moderation/games/{game.code}/"
    assert "over for good" in page.get(address).content.decode()
    act = acts.end_game(juve, game, WHY)
    assert "over for good" in page.get("/moderation/acts/").content.decode()
    assert f"/moderation/acts/{act.pk}/undo/" not in page.get(address).content.decode()
    assert refused(lambda: undoing.undo(act, juve)) == "cannot_undo"


def test_a_decision_is_undone_and_the_case_waits_again(juve: User, max_: User) -> None:
    case = claimed(max_, juve, somebody("Irma Vep"))
    act = decided(case, juve, Report.Verdict.ABUSIVE)
    undoing.undo(act, juve)
    case.refresh_from_db()
    assert (case.decided, case.outcome, case.claimed_by) == (None, "", None)
    assert [report.verdict for report in case.reports.all()] == [""]
    again = decided(cases.claim(case, juve), juve, Report.Verdict.UNFOUNDED)
    reported(somebody("Fandor"), max_)
    assert refused(lambda: undoing.undo(again, juve)) == "new_case"


def test_an_undoing_is_not_undone(juve: User, max_: User) -> None:
    assert refused(lambda: undoing.undo(undoing.undo(acts.warn(juve, max_, WHY), juve), juve)) == "cannot_undo"


# On rooms and at tables -----------------------------------------------------------------------------------------------


@pytest.mark.both_databases
def test_a_closed_room_is_opened_again_for_who_sits_nowhere_else(juve: User, max_: User) -> None:
    room, irma = rooms.open_room(max_, size=3), somebody("Irma Vep")
    rooms.sit(room, irma)
    rooms.add_bot(room, max_, "burglar")
    act = acts.close_room(juve, room, WHY)
    assert {letter.person for letter in Letter.objects.filter(act=act)} == {max_, irma}
    rooms.open_room(max_)
    undoing.undo(act, juve)
    room.refresh_from_db()
    assert (room.closed, room.owner) == (None, irma)
    assert [seat.user for seat in room.seats.order_by("number")] == [irma, None]
    assert {letter.person for letter in Letter.objects.filter(kind="undone")} == {max_, irma}


def test_whoever_waits_for_a_match_by_then_is_not_led_back_to_a_room_that_is_opened_again(
    juve: User, max_: User
) -> None:
    room, irma = rooms.open_room(max_, size=3), somebody("Irma Vep")
    rooms.sit(room, irma)
    act = acts.close_room(juve, room, WHY)
    for person in (max_, somebody("Fandor")):
        quick.enter(person, 2)
    undoing.undo(act, juve)
    assert [seat.user for seat in room.seats.all()] == [irma]
    assert quick.match(2, timezone.now()) == 1


def test_a_closed_room_stays_closed_when_everybody_is_elsewhere(juve: User, max_: User) -> None:
    room = rooms.open_room(max_)
    act = acts.close_room(juve, room, WHY)
    rooms.open_room(max_)
    assert refused(lambda: undoing.undo(act, juve)) == "all_elsewhere"
    assert not Act.objects.filter(what=What.UNDO).exists()


@pytest.mark.both_databases
def test_a_room_is_handed_back_and_who_was_shown_out_may_come_again(juve: User, max_: User) -> None:
    room, irma = rooms.open_room(max_, size=3), somebody("Irma Vep")
    rooms.sit(room, irma)
    given = acts.hand_over(juve, room, irma, WHY)
    assert {letter.person for letter in Letter.objects.filter(act=given)} == {max_, irma}
    undoing.undo(given, juve)
    room.refresh_from_db()
    assert room.owner == max_
    shown_out = acts.remove_from_room(juve, room, irma, WHY)
    with pytest.raises(rooms.RoomRefusal):
        rooms.sit(room, irma)
    undoing.undo(shown_out, juve)
    assert rooms.sit(room, irma)
    again = acts.hand_over(juve, room, irma, WHY)
    rooms.stand(room, max_)
    assert refused(lambda: undoing.undo(again, juve)) == "not_in_room"


def test_nobody_undoes_what_was_done_to_a_room_where_they_sat(juve: User, max_: User) -> None:
    lupin, room = moderator("Lupin"), rooms.open_room(max_, size=3)
    rooms.sit(room, lupin)
    act = acts.close_room(juve, room, WHY)
    assert refused(lambda: undoing.undo(act, lupin)) == "involved"


def test_a_removal_from_a_game_is_held_against_nobody_once_it_is_undone(juve: User, max_: User) -> None:
    game = game_of(somebody("Irma Vep"), max_, somebody("Fandor"))
    sweep.wake(game.pk)
    act = acts.remove_from_game(juve, game, max_, WHY)
    address = f"/moderation/games/{game.code}/"
    page = client_of(moderator("Lupin"))
    assert f"/moderation/acts/{act.pk}/undo/" in page.get(address).content.decode()
    answer = page.post(f"/moderation/acts/{act.pk}/undo/", {"words": "He was ill."})
    assert answer.headers["Location"] == address
    assert game.seats.get(user=max_).forgiven
    assert Letter.objects.filter(person=max_, kind="undone", words="He was ill.").exists()


def test_what_was_done_and_undone_is_listed_with_as_many_questions_however_much_it_is(juve: User, max_: User) -> None:
    page, address = client_of(juve), f"/moderation/people/{max_.pk}/"

    def questions() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert page.get(address).status_code == 200
        return len(asked)

    undoing.undo(acts.warn(juve, max_, WHY), juve)
    questions()
    few = questions()
    for _ in range(4):
        undoing.undo(acts.warn(juve, max_, WHY), juve)
    assert questions() == few
