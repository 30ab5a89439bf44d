"""Appeals: once for each act, by the person, decided by somebody else; who is suspended appeals at the door."""

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games import chat, rooms, sweep
from games.models import Act, Appeal, Letter, Message, Reason
from games.moderation import acts, appeals, roles
from games.moderation.acts import Why
from tests.games.finished import finished
from tests.games.night_watch import client_of, game_of, moderator, somebody

pytestmark = pytest.mark.django_db
WHY = Why(Reason.INSULT)


def muted(by: User, person: User) -> Act:
    return acts.mute(by, person, timezone.now() + timedelta(days=1), WHY)


def test_a_granted_appeal_undoes_the_act_and_says_so(juve: User, max_: User) -> None:
    waiting = appeals.appeal(muted(juve, max_), max_, "It was a joke.")
    appeals.decide(waiting, moderator("Lupin"), granted=True, answer="True.")
    max_.refresh_from_db()
    assert not max_.is_muted
    assert Letter.objects.filter(person=max_, kind="undone", words="True.").exists()


def test_a_refused_appeal_changes_nothing_and_says_so(juve: User, max_: User) -> None:
    waiting = appeals.appeal(muted(juve, max_), max_, "It was a joke.")
    appeals.decide(waiting, moderator("Lupin"), granted=False, answer="It was not.")
    max_.refresh_from_db()
    assert max_.is_muted
    assert Letter.objects.filter(person=max_, kind="refused").exists()


def test_whoever_acted_does_not_decide_and_nobody_decides_twice(juve: User, max_: User) -> None:
    waiting = appeals.appeal(muted(juve, max_), max_, "It was a joke.")
    with pytest.raises(ValidationError) as raised:
        appeals.decide(waiting, juve, granted=False)
    assert raised.value.code == "own_act"
    lupin = moderator("Lupin")
    appeals.decide(waiting, lupin, granted=False)
    with pytest.raises(ValidationError) as raised:
        appeals.decide(waiting, lupin, granted=True)
    assert raised.value.code == "appeal_decided"


def test_whoever_sat_at_the_table_of_an_act_decides_no_appeal_about_it(juve: User, max_: User) -> None:
    lupin = moderator("Lupin")
    channel = chat.channel_of(game_of(lupin, max_))
    message = Message.objects.create(channel=channel, audience="players", author=max_, words="You fool")
    waiting = appeals.appeal(acts.hide(juve, message, WHY), max_, "It was a joke.")
    for granted in (True, False):
        with pytest.raises(ValidationError) as raised:
            appeals.decide(waiting, lupin, granted=granted)
        assert raised.value.code == "involved"
    waiting.refresh_from_db()
    assert waiting.decided is None


def test_an_hour_has_its_number_of_refused_appeals(juve: User, max_: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roles, "MOST_ACTS", 2)
    lupin = moderator("Lupin")
    first, second, third = [appeals.appeal(muted(by, max_), max_, "Please.") for by in (juve, juve, moderator("Nick"))]
    appeals.decide(first, lupin, granted=False)
    appeals.decide(second, lupin, granted=False)
    with pytest.raises(ValidationError) as raised:
        appeals.decide(third, lupin, granted=False)
    assert raised.value.code == "too_many_acts"


def test_one_appeals_once_and_only_for_oneself(juve: User, max_: User) -> None:
    act = muted(juve, max_)
    for person in (somebody("Irma Vep"), juve):
        with pytest.raises(ValidationError):
            appeals.appeal(act, person, "Please.")
    appeals.appeal(act, max_, "Please.")
    with pytest.raises(ValidationError):
        appeals.appeal(Act.objects.get(pk=act.pk), max_, "Please!")


@pytest.mark.both_databases
def test_everybody_at_the_table_of_a_voided_game_may_appeal_and_one_grant_answers_all(juve: User, max_: User) -> None:
    irma, fandor, lupin = somebody("Irma Vep"), somebody("Fandor"), moderator("Lupin")
    game = finished("fr-3-ranked", [max_, irma, fandor])
    act = acts.void_game(juve, game, WHY)
    assert f"/letters/{act.pk}/appeal/" in client_of(irma).get("/letters/").content.decode()
    hers, his = appeals.appeal(act, irma, "Nobody cheated."), appeals.appeal(act, max_, "I won.")
    appeals.decide(hers, lupin, granted=True, answer="True.")
    game.refresh_from_db()
    assert game.voided is None
    assert {letter.person for letter in Letter.objects.filter(kind="undone", words="True.")} == {max_, irma, fandor}
    his.refresh_from_db()
    assert (his.granted, his.decided_by) == (True, lupin)
    assert not appeals.may_appeal(Act.objects.get(pk=act.pk), fandor)


def test_a_refusal_answers_only_whoever_asked(juve: User, max_: User) -> None:
    irma = somebody("Irma Vep")
    act = acts.void_game(juve, finished("fr-3-ranked", [max_, irma, somebody("Fandor")]), WHY)
    appeals.decide(appeals.appeal(act, irma, "Please."), moderator("Lupin"), granted=False, answer="No.")
    assert {letter.person for letter in Letter.objects.filter(kind="refused")} == {irma}
    assert appeals.may_appeal(act, max_)
    assert not appeals.may_appeal(act, irma)


def test_who_was_taken_out_of_a_game_or_lost_a_room_appeals(juve: User, max_: User) -> None:
    irma, lupin = somebody("Irma Vep"), moderator("Lupin")
    game = game_of(irma, max_, somebody("Fandor"))
    sweep.wake(game.pk)
    removed = acts.remove_from_game(juve, game, max_, WHY)
    appeals.decide(appeals.appeal(removed, max_, "I was ill."), lupin, granted=True)
    assert game.seats.get(user=max_).forgiven
    barbe = somebody("Barbe")
    room = rooms.open_room(barbe, size=3)
    closed = acts.close_room(juve, room, WHY)
    appeals.decide(appeals.appeal(closed, barbe, "We only talked."), lupin, granted=True)
    room.refresh_from_db()
    assert room.closed is None


def test_nobody_appeals_what_cannot_be_undone_or_did_them_good(juve: User, max_: User) -> None:
    ended = acts.end_game(juve, game_of(max_, somebody("Irma Vep")), WHY)
    forgiven = acts.forgive(juve, max_, WHY)
    for act in (ended, forgiven):
        assert not appeals.may_appeal(act, max_)


def test_an_appeal_goes_through_the_pages(juve: User, max_: User) -> None:
    act = muted(juve, max_)
    page = client_of(max_)
    assert f"/letters/{act.pk}/appeal/" in page.get("/letters/").content.decode()
    assert page.post(f"/letters/{act.pk}/appeal/", {"words": "It was a joke."}).status_code == 302
    waiting = Appeal.objects.get()
    own, other = client_of(juve), client_of(moderator("Lupin"))
    assert "Another moderator decides" in own.get("/moderation/appeals/").content.decode()
    assert "It was a joke." in other.get("/moderation/appeals/").content.decode()
    other.post(f"/moderation/appeals/{waiting.pk}/", {"granted": "yes", "answer": "True."})
    max_.refresh_from_db()
    assert not max_.is_muted
    assert client_of(somebody("Irma Vep")).get(f"/letters/{act.pk}/appeal/").status_code == 404


def test_who_is_suspended_reads_and_appeals_after_proving_who_they_are(juve: User, max_: User, client: Client) -> None:
    act = acts.suspend(juve, max_, timezone.now() + timedelta(days=1), WHY)
    assert client.get("/letters/").status_code == 302
    client.post("/account/sign-in/", {"login": "Max", "password": "ten black gloves"})
    assert "/letters/" in client.get("/account/suspended/").content.decode()
    assert "suspended" in client.get("/letters/").content.decode()
    assert client.post(f"/letters/{act.pk}/appeal/", {"words": "Please."}).status_code == 302
    assert Appeal.objects.get().act == act
    assert client.get("/account/").status_code == 302


@pytest.mark.parametrize("number", [0, 10**19, 10**25])
def test_a_letter_that_nobody_can_have_is_not_found(number: int) -> None:
    assert client_of(somebody("Belle")).get(f"/letters/{number}/appeal/").status_code == 404
