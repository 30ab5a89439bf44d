"""A moderator acts on no message that they may not read, and reads none by acting on it."""

import pytest

from accounts.models import User
from games import chat
from games.models import Act, Game, Message, Reason
from games.moderation import acts, cases, reports, undoing
from games.moderation.acts import Why
from games.moderation.reports import Moment
from tests.games.night_watch import client_of, game_of, moderator, somebody

pytestmark = pytest.mark.django_db
PLAN = "My plan is the safe"
FORM = {"reason": "insult"}


@pytest.fixture
def game(irma: User, max_: User) -> Game:
    return game_of(irma, max_)


@pytest.fixture
def message(game: Game, max_: User) -> Message:
    return said(game, max_)


def said(game: Game, author: User) -> Message:
    place = chat.place_of(chat.channel_of(game), author.pk)
    assert place is not None
    return chat.say(author, place, words=PLAN)


def address(message: Message) -> str:
    return f"/moderation/messages/{message.pk}/hide/"


def page_of(act: Act) -> str:
    return f"/admin/games/act/{act.pk}/change/"


@pytest.mark.parametrize("administrator", [False, True])
@pytest.mark.parametrize("htmx", [{}, {"HX-Request": "true"}])
def test_private_talk_is_not_there_for_a_moderator(message: Message, administrator: bool, htmx: dict[str, str]) -> None:
    page = client_of(moderator(administrator=administrator))
    for answer in (page.get(address(message), headers=htmx), page.post(address(message), FORM, headers=htmx)):
        assert answer.status_code == 404
        assert PLAN not in answer.content.decode()
    message.refresh_from_db()
    assert (message.hidden, Act.objects.count()) == (False, 0)


def test_the_number_of_another_case_opens_no_message(message: Message, irma: User, max_: User) -> None:
    juve = moderator()
    case = cases.claim(reports.file_report(irma, max_, Reason.SPAM).case, juve)
    assert client_of(juve).post(address(message), FORM | {"case": case.pk}).status_code == 404
    assert not Act.objects.exists()


def test_a_reported_message_is_there_but_not_for_a_moderator_with_a_side(
    message: Message, irma: User, max_: User
) -> None:
    juve, lupin = moderator(), moderator("Lupin")
    case = reports.file_report(irma, max_, Reason.INSULT, moment=Moment(message=message)).case
    reports.file_report(lupin, max_, Reason.SPAM)
    assert client_of(lupin).post(address(message), FORM).status_code == 404
    cases.claim(case, juve)
    assert client_of(juve).post(address(message), FORM | {"case": case.pk}).status_code == 302
    message.refresh_from_db()
    assert message.hidden


def test_words_that_were_reported_stand_in_the_act_for_the_others_only(
    message: Message, irma: User, max_: User
) -> None:
    juve, lupin, nick = moderator(), moderator("Lupin"), moderator("Nick")
    case = cases.claim(reports.file_report(irma, max_, Reason.INSULT, moment=Moment(message=message)).case, juve)
    act = acts.hide(juve, message, Why(Reason.INSULT, case=case))
    reports.file_report(lupin, max_, Reason.SPAM)
    undone = undoing.undo(act, nick)
    for one in (act, undone):
        assert PLAN in client_of(nick).get(page_of(one)).content.decode()
        shown = client_of(lupin).get(page_of(one)).content.decode()
        assert PLAN not in shown
        assert "/admin/games/act/" in shown


@pytest.mark.parametrize("forgotten", [False, True])
def test_an_act_on_private_talk_shows_no_words_to_those_who_could_not_read_them(
    message: Message, forgotten: bool
) -> None:
    act = acts.hide(moderator(), message, Why(Reason.INSULT))
    if forgotten:
        Message.objects.all().delete()
    for reader in (moderator("Lupin"), moderator("Nick", administrator=True)):
        assert PLAN not in client_of(reader).get(page_of(act)).content.decode()


def test_words_to_the_watchers_stand_in_the_act_for_every_moderator(game: Game) -> None:
    message = said(game, somebody("Fandor"))
    juve = moderator()
    assert client_of(juve).post(address(message), FORM).status_code == 302
    assert PLAN in client_of(moderator("Lupin")).get(page_of(Act.objects.get())).content.decode()


def test_a_moderator_who_sits_there_reads_but_does_not_act(irma: User) -> None:
    juve = moderator()
    message = said(game_of(irma, juve), irma)
    page = client_of(juve)
    assert PLAN in page.get(address(message)).content.decode()
    assert page.post(address(message), FORM).status_code == 422
    assert not Act.objects.exists()


def test_others_learn_nothing_from_the_door(message: Message, max_: User) -> None:
    assert client_of(max_).post(address(message), FORM).status_code == 403
