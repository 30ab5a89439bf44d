"""Acts: each changes what it says, writes its line, tells the person, can be undone by an act, and never vanishes."""

import html
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.db import DatabaseError, connection, transaction
from django.utils import timezone, translation
from django.utils.translation import gettext

from accounts.models import FOREVER, EndedSession, User
from games import careers, chat, intervention, ladder, log, ranked, rooms, sweep
from games.models import Act, Career, Game, Ladder, Letter, Message, Rating, Reason, What
from games.moderation import acts, cases, letters, roles, sides, undoing
from games.moderation.acts import Why
from games.moderation.statements import statement_of
from midnight.celery import app
from tests.games.finished import finished
from tests.games.night_watch import claimed, client_of, game_of, moderator, refused, reported, somebody

pytestmark = pytest.mark.django_db
WHY = Why(Reason.INSULT, "Not like this.")
committing = pytest.mark.django_db(transaction=True)


def in_(**time: int) -> object:
    return timezone.now() + timedelta(**time)


def last(game: Game) -> str:
    return log.since(game.pk, 0).lines[-1].body


# On people ------------------------------------------------------------------------------------------------------------


def test_who_is_muted_or_barred_is_so_for_a_time_and_by_the_log(juve: User, max_: User) -> None:
    until = timezone.now() + timedelta(hours=1)
    acts.mute(juve, max_, until, WHY)
    acts.bar(juve, max_, until, WHY)
    max_.refresh_from_db()
    assert max_.is_muted
    assert max_.is_barred
    act = Act.objects.get(what=What.MUTE)
    assert (act.by, act.person, act.reason, act.words, act.until) == (juve, max_, "insult", "Not like this.", until)
    assert act.before == {"until": None}
    assert act.after == {"until": until.isoformat()}


def test_a_suspension_ends_every_session_and_bars_the_door(juve: User, max_: User) -> None:
    page = client_of(max_)
    acts.suspend(juve, max_, timezone.now() + timedelta(days=1), WHY)
    assert EndedSession.objects.filter(user=max_, reason="suspended").exists()
    assert page.get("/account/").status_code == 302


def test_a_name_that_is_taken_away_can_be_chosen_anew_at_once(juve: User, max_: User) -> None:
    acts.rename(juve, max_, WHY)
    max_.refresh_from_db()
    assert max_.name.startswith("Player ")
    assert client_of(max_).post("/account/name/", {"name": "Satanas"}).status_code == 302


def test_a_hidden_message_is_hidden_and_its_words_stand_in_the_log(juve: User, max_: User) -> None:
    message = Message.objects.create(channel="g-x", audience="players", author=max_, words="You fool")
    act = acts.hide(juve, message, WHY)
    message.refresh_from_db()
    assert message.hidden
    assert act.before["said"] == "You fool"
    undoing.undo(act, juve)
    message.refresh_from_db()
    assert not message.hidden


def test_nobody_acts_on_themselves_and_only_an_administrator_on_a_moderator(juve: User) -> None:
    lupin = moderator("Lupin")
    assert refused(lambda: acts.warn(juve, juve, WHY)) == "about_yourself"
    assert refused(lambda: acts.warn(juve, lupin, WHY)) == "about_staff"
    assert acts.warn(moderator("Nick", administrator=True), lupin, WHY)


def test_a_stolen_session_does_little(juve: User, max_: User) -> None:
    for number in range(roles.MOST_OF[What.SUSPEND]):
        acts.suspend(juve, somebody(f"Apache {number}"), timezone.now() + timedelta(days=1), WHY)
    assert refused(lambda: acts.suspend(juve, max_, timezone.now() + timedelta(days=1), WHY)) == "too_many_acts"
    max_.refresh_from_db()
    assert not max_.is_suspended
    acts.warn(juve, max_, WHY)


def test_an_act_in_a_case_takes_the_case(juve: User, max_: User) -> None:
    case = claimed(max_, juve, somebody("Irma Vep"))
    other = moderator("Lupin")
    assert refused(lambda: acts.warn(other, max_, Why(Reason.INSULT, case=case))) == "case_taken"
    assert not Act.objects.exists()
    assert acts.warn(juve, max_, Why(Reason.INSULT, case=case)).case == case


# The log --------------------------------------------------------------------------------------------------------------


def test_no_code_of_ours_changes_or_deletes_a_line(juve: User, max_: User) -> None:
    act = acts.warn(juve, max_, WHY)
    for change in (act.save, act.delete, Act.objects.all().delete, lambda: Act.objects.update(words="x")):
        with pytest.raises(TypeError):
            change()


@pytest.mark.both_databases
@pytest.mark.parametrize("statement", ["UPDATE games_act SET words = 'never'", "DELETE FROM games_act"])
def test_the_database_refuses_whoever_goes_round_the_code(statement: str) -> None:
    acts.warn(moderator(), somebody("Max"), WHY)
    refusal = pytest.raises(DatabaseError, match="never changed or deleted")
    with refusal, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert Act.objects.get().words == "Not like this."


def test_a_line_outlives_whom_it_speaks_of(juve: User) -> None:
    guest = User.objects.create_guest()
    acts.warn(juve, guest, WHY)
    guest.delete()
    assert "Warned" in client_of(juve).get("/moderation/acts/").content.decode()


# Letters --------------------------------------------------------------------------------------------------------------


@committing
def test_the_letter_comes_by_mail_too_in_the_language_of_whoever_gets_it(max_: User, juve: User) -> None:
    app.conf.task_always_eager = True
    try:
        EmailAddress.objects.create(user=max_, email="max@example.org", verified=True, primary=True)
        acts.mute(juve, max_, timezone.now() + timedelta(days=1), WHY)
    finally:
        app.conf.task_always_eager = False
    assert "Not like this." in mail.outbox[0].body
    assert "/letters/" in mail.outbox[0].body


@committing
def test_what_is_for_good_is_called_so_and_has_no_date_wherever_it_is_told(max_: User, juve: User) -> None:
    EmailAddress.objects.create(user=max_, email="max@example.org", verified=True, primary=True)
    app.conf.task_always_eager = True
    try:
        for do in (acts.mute, acts.bar):
            do(juve, max_, FOREVER, WHY)
    finally:
        app.conf.task_always_eager = False
    assert "Until: for good\n" in mail.outbox[0].body
    told = [client_of(max_).get("/letters/").content.decode()]
    office, act = client_of(juve), Act.objects.latest("pk")
    acts.suspend(juve, max_, FOREVER, WHY)
    looked_at = [f"/moderation/people/{max_.pk}/", "/moderation/acts/", "/admin/accounts/user/", "/admin/games/act/"]
    told += [office.get(address).content.decode() for address in (*looked_at, f"/admin/games/act/{act.pk}/change/")]
    for page in told:
        assert "for good" in page
        assert "9999" not in page.replace(FOREVER.isoformat(), "")


@committing
def test_a_french_person_has_french_letters_from_a_german_moderator(max_: User, juve: User) -> None:
    User.objects.filter(pk=max_.pk).update(language="fr")
    max_.refresh_from_db()
    EmailAddress.objects.create(user=max_, email="max@example.org", verified=True, primary=True)
    app.conf.task_always_eager = True
    try:
        with translation.override("de"):
            acts.warn(juve, max_, WHY)
    finally:
        app.conf.task_always_eager = False
    with translation.override("fr"):
        subject, reason = gettext("A letter from the moderators"), gettext("Insults or hate")
    assert subject in mail.outbox[0].subject
    assert "Un modérateur vous avertit." in mail.outbox[0].body
    assert reason in mail.outbox[0].body
    page = client_of(max_).get("/letters/").content.decode()
    assert "Un modérateur vous avertit." in page
    assert reason in html.unescape(page)


def test_a_letter_is_put_into_words_by_whoever_reads_it(juve: User, max_: User) -> None:
    acts.warn(juve, max_, WHY)
    letter = Letter.objects.get()
    with translation.override("en"):
        assert statement_of(letter).sentences == ["A moderator warns you."]
    assert letters.unread(max_.pk) == 1
    page = client_of(max_).get("/letters/").content.decode()
    assert "Not like this." in page
    assert letters.unread(max_.pk) == 0


def test_an_unread_letter_shows_in_the_header_of_every_page_until_it_is_read(juve: User, max_: User) -> None:
    acts.warn(juve, max_, WHY)
    page = client_of(max_)
    assert "1 unread letter" in page.get("/play/").content.decode()
    page.get("/letters/")
    assert "unread letter" not in page.get("/play/").content.decode()
    assert "unread letter" not in client_of(juve).get("/play/").content.decode()


# On games -------------------------------------------------------------------------------------------------------------


@pytest.mark.both_databases
@pytest.mark.parametrize("begun", [True, False])
def test_a_running_game_is_ended_as_void_from_outside_of_its_process(begun: bool) -> None:
    juve, irma, max_ = moderator(), somebody("Irma Vep"), somebody("Max")
    game = game_of(irma, max_)
    if begun:
        sweep.wake(game.pk)
    act = acts.end_game(juve, game, WHY)
    game.refresh_from_db()
    assert game.ended is not None
    assert '"by":"staff"' in last(game)
    assert act.game == game
    assert {letter.person for letter in Letter.objects.all()} == {irma, max_}
    assert refused(lambda: acts.end_game(juve, game, WHY)) == "game_over"


def test_one_player_is_taken_out_and_the_others_play_on(juve: User, max_: User) -> None:
    game = game_of(somebody("Irma Vep"), max_, somebody("Fandor"))
    sweep.wake(game.pk)
    acts.remove_from_game(juve, game, max_, WHY)
    game.refresh_from_db()
    assert '"type":"abandoned"' in last(game)
    assert game.ended is None
    assert refused(lambda: acts.remove_from_game(juve, game, max_, WHY)) == "not_in_game"


@committing
def test_a_suspension_takes_somebody_out_of_live_games_at_once(max_: User, juve: User) -> None:
    game = game_of(somebody("Irma Vep"), max_, somebody("Fandor"))
    sweep.wake(game.pk)
    acts.suspend(juve, max_, timezone.now() + timedelta(days=1), WHY)
    assert '"type":"abandoned","seat":1,"by":"staff"' in last(game).replace(" ", "")


@committing
@pytest.mark.parametrize("failures", [1, 9])
def test_one_game_that_cannot_be_left_keeps_nobody_in_the_others(
    failures: int, max_: User, juve: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    games = [game_of(somebody(f"Irma {number}"), max_, somebody(f"Fandor {number}")) for number in range(3)]
    for game in games:
        sweep.wake(game.pk)
    remove, failed = intervention.remove, []

    def fails(game_id: int, person_id: int) -> bool:
        if game_id == games[0].pk and len(failed) < failures:
            failed.append(game_id)
            raise log.Behind
        return remove(game_id, person_id)

    monkeypatch.setattr(intervention, "remove", fails)
    acts.suspend(juve, max_, timezone.now() + timedelta(days=1), WHY)
    out = ['"abandoned"' in last(game) for game in games]
    assert out == [failures == 1, True, True]
    assert (f"still in game {games[0].pk}" in caplog.text) is (failures > 1)


def test_nobody_ends_a_game_at_whose_table_they_sit(juve: User, max_: User) -> None:
    assert refused(lambda: acts.end_game(juve, game_of(juve, max_), WHY)) == "involved"


@pytest.mark.both_databases
@pytest.mark.parametrize("what", ["end", "remove"])
def test_a_running_game_and_the_log_of_acts_change_together_or_not_at_all(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    juve, irma, max_ = moderator(), somebody("Irma Vep"), somebody("Max")
    game = game_of(irma, max_, somebody("Fandor"))
    sweep.wake(game.pk)
    before = log.since(game.pk, 0).lines

    def act() -> object:
        return acts.end_game(juve, game, WHY) if what == "end" else acts.remove_from_game(juve, game, max_, WHY)

    with monkeypatch.context() as failing:
        failing.setattr(log, "write", lambda appends: {append.game_id for append in appends})
        with pytest.raises(log.Behind):
            act()
    assert not Act.objects.exists()
    assert not Letter.objects.exists()
    with monkeypatch.context() as failing:
        failing.setattr(letters, "send", None)
        with pytest.raises(TypeError):
            act()
    assert not Act.objects.exists()
    assert log.since(game.pk, 0).lines == before
    act()
    assert Act.objects.count() == 1


def test_nobody_undoes_a_void_or_watches_unseen_at_a_table_where_they_sat(juve: User, max_: User) -> None:
    lupin = moderator("Lupin")
    game = finished("fr-3-ranked", [max_, juve, somebody("Irma Vep")])
    act = acts.void_game(lupin, game, WHY)
    assert refused(lambda: undoing.undo(act, juve)) == "involved"
    assert not Act.objects.filter(what=What.UNDO).exists()
    assert refused(lambda: acts.watch(juve, game_of(juve, max_), WHY)) == "involved"


def test_nobody_acts_without_a_case_on_whom_they_play_or_played_lately(juve: User, max_: User) -> None:
    game = game_of(juve, max_)
    assert refused(lambda: acts.warn(juve, max_, WHY)) == "involved"
    Game.objects.filter(pk=game.pk).update(ended=timezone.now())
    tomorrow = timezone.now() + timedelta(days=1)
    assert refused(lambda: acts.mute(juve, max_, tomorrow, WHY)) == "involved"
    done = acts.warn(moderator("Lupin"), max_, WHY)
    assert refused(lambda: undoing.undo(done, juve)) == "involved"
    answer = client_of(juve).post(f"/moderation/people/{max_.pk}/", {"what": "warn", "hours": "1", "reason": "insult"})
    assert (answer.status_code, Act.objects.count()) == (422, 1)
    Game.objects.filter(pk=game.pk).update(ended=timezone.now() - sides.LATELY)
    assert acts.warn(juve, max_, WHY)


def test_nobody_goes_round_a_case_in_which_they_have_a_side(juve: User, max_: User) -> None:
    game = game_of(juve, max_, somebody("Irma Vep"))
    Game.objects.filter(pk=game.pk).update(ended=timezone.now() - sides.LATELY)
    case = claimed(max_, juve, somebody("Fandor"))
    assert acts.warn(juve, max_, Why(Reason.INSULT, case=case))
    reported(somebody("Apache"), max_, game=game)
    assert refused(lambda: acts.warn(juve, max_, Why(Reason.INSULT, case=case))) == "involved"
    assert refused(lambda: acts.warn(juve, max_, WHY)) == "involved"


def test_nobody_hides_what_was_said_at_their_own_table_or_in_their_own_room(juve: User, max_: User) -> None:
    room = rooms.open_room(max_, size=3)
    rooms.sit(room, juve)
    for channel in (chat.channel_of(game_of(juve, max_)), chat.channel_of_room(room)):
        message = Message.objects.create(channel=channel, audience="players", author=max_, words="You fool")
        assert refused(lambda message=message: acts.hide(juve, message, WHY)) == "involved"  # type: ignore[misc]
        act = acts.hide(moderator(f"Lupin {message.pk}"), message, WHY)
        assert refused(lambda act=act: undoing.undo(act, juve)) == "involved"  # type: ignore[misc]


@committing
def test_a_ranked_game_is_taken_out_of_the_ratings_and_counts_again_when_that_is_undone(juve: User, max_: User) -> None:
    people = [max_, somebody("Irma Vep"), somebody("Fandor")]
    game = finished("fr-3-ranked", people)
    ladder.rate_finished()

    def ratings() -> set[str]:
        ladder.replay()
        current = Ladder.objects.get(pace="live").generation
        return {str(row.rating) for row in Rating.objects.filter(generation=current, pace="live")}

    rated = ratings()
    assert len(rated) == 3
    act = acts.void_game(juve, game, WHY)
    assert ratings() <= {"1500.00"}
    assert refused(lambda: acts.void_game(juve, game, WHY)) == "not_rated"
    assert Letter.objects.filter(act=act).count() == 3
    undoing.undo(Act.objects.get(pk=act.pk), juve)
    assert ratings() == rated
    assert Letter.objects.filter(kind="undone").count() == 3


def test_what_was_left_unfinished_is_forgiven_and_held_against_again(juve: User, max_: User) -> None:
    for _ in range(2):
        game = game_of(max_, somebody(f"Apache {_}"))
        Game.objects.filter(pk=game.pk).update(ranked=True, ended=timezone.now())
        game.seats.filter(user=max_).update(conduct="left", left_at=timezone.now(), ended=timezone.now())
    assert ranked.pause_of(max_.pk)
    act = acts.forgive(juve, max_, WHY)
    assert ranked.pause_of(max_.pk) is None
    undoing.undo(act, juve)
    assert ranked.pause_of(max_.pk)


def test_what_a_void_game_did_not_forgive_is_held_against_them_again(juve: User, max_: User) -> None:
    game = game_of(max_, somebody("Irma Vep"), somebody("Fandor"))
    game.seats.filter(user=max_).update(conduct="missed", left_at=timezone.now(), ended=timezone.now())
    Game.objects.filter(pk=game.pk).update(reason="void", ended=timezone.now())
    act = acts.forgive(juve, max_, WHY)
    undoing.undo(act, juve)
    assert not game.seats.get(user=max_).forgiven


def test_what_a_void_game_forgave_is_held_against_nobody_again(juve: User, max_: User) -> None:
    game = game_of(max_, somebody("Irma Vep"), somebody("Fandor"))
    assert intervention.leave(game.pk, max_.pk)
    act = acts.forgive(juve, max_, WHY)
    assert act.before == {"seats": [game.seats.get(user=max_).pk]}
    assert intervention.void(game.pk)
    undoing.undo(act, juve)
    assert game.seats.get(user=max_).forgiven


@pytest.mark.both_databases
@pytest.mark.parametrize("counted", ["before", "after"])
def test_what_is_forgiven_counts_in_no_case_and_no_career_until_that_is_undone(counted: str) -> None:
    juve, irma, max_ = moderator(), somebody("Irma Vep"), somebody("Max")
    game = finished("fr-3-ranked", [max_, irma, somebody("Fandor")])
    game.seats.filter(user__in=[max_, irma]).update(conduct="left")
    if counted == "before":
        careers.count_finished()
    act = acts.forgive(juve, max_, WHY)
    careers.count_finished()

    def left(person: User) -> tuple[int, int]:
        assert careers.recount() == 0
        return Career.objects.get(user=person).left, len(cases.conduct_of(person))

    assert (left(max_), left(irma)) == ((0, 0), (1, 1))
    assert client_of(max_).get("/people/Max/").status_code == 200
    undoing.undo(act, juve)
    assert left(max_) == (1, 1)


# On rooms -------------------------------------------------------------------------------------------------------------


def test_a_room_is_closed_and_its_owner_told(juve: User, max_: User) -> None:
    room = rooms.open_room(max_)
    act = acts.close_room(juve, room, WHY)
    room.refresh_from_db()
    assert (room.why_closed, act.room) == ("staff", room.code)
    assert Letter.objects.get().person == max_
    assert refused(lambda: acts.close_room(juve, room, WHY)) == "room_closed"


def test_somebody_is_shown_out_of_a_room_or_made_its_owner(juve: User, max_: User) -> None:
    room, irma = rooms.open_room(max_, size=3), somebody("Irma Vep")
    rooms.sit(room, irma)
    acts.hand_over(juve, room, irma, WHY)
    room.refresh_from_db()
    assert room.owner == irma
    acts.remove_from_room(juve, room, max_, WHY)
    assert [seat.user for seat in room.seats.all()] == [irma]
    for doing in (acts.hand_over, acts.remove_from_room):
        assert refused(lambda doing=doing: doing(juve, room, max_, WHY)) == "not_in_room"  # type: ignore[misc]


def test_nobody_acts_on_a_room_they_sit_in(juve: User) -> None:
    room = rooms.open_room(juve)
    assert refused(lambda: acts.close_room(juve, room, WHY)) == "involved"


def test_the_room_page_of_moderators_does_all_three(juve: User, max_: User) -> None:
    room, irma, page = rooms.open_room(max_, size=3), somebody("Irma Vep"), client_of(juve)
    rooms.sit(room, irma)
    address = f"/moderation/rooms/{room.code}/"
    assert "Max" in page.get(address).content.decode()
    assert page.post(address, {"what": "remove", "reason": "insult"}).status_code == 422
    for said in (
        {"what": "hand_over", "person": irma.pk},
        {"what": "remove", "person": max_.pk},
        {"what": "close_room"},
    ):
        assert page.post(address, said | {"reason": "insult"}).status_code == 302
    assert [act.what for act in Act.objects.order_by("pk")] == ["hand_over", "remove", "close_room"]


def test_watching_unseen_is_written_down(juve: User, max_: User) -> None:
    game = game_of(max_, somebody("Irma Vep"))
    answer = client_of(juve).post(f"/moderation/games/{game.code}/", {"what": "watch", "reason": "cheating"})
    assert answer.headers["Location"] == f"/games/{game.code}/"
    assert Act.objects.get().what == What.WATCH
    assert not Letter.objects.exists()


# The second factor again ----------------------------------------------------------------------------------------------


def test_a_suspension_asks_for_the_second_factor_again_and_then_goes_on(juve: User, max_: User) -> None:
    form = {"what": "suspend", "hours": "24", "reason": "threat"}
    answer = client_of(juve).post(f"/moderation/people/{max_.pk}/", form)
    assert answer.headers["Location"].startswith("/account/again/code/")
    max_.refresh_from_db()
    assert not max_.is_suspended
    assert client_of(juve, proved=True).post(f"/moderation/people/{max_.pk}/", form).status_code == 302
    max_.refresh_from_db()
    assert max_.is_suspended
