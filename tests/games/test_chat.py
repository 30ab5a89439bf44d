"""Talk: ready sentences for everybody, words for who may, players and watchers apart, nobody has to hear anybody."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from accounts import moderation
from accounts.models import User
from games import chat, rooms
from games.models import Act, Game, Ignored, Message, Reason
from games.models.talk import MOST_LETTERS
from games.moderation import acts, reports, undoing
from games.moderation.acts import Why
from games.moderation.reports import Moment
from midnight.asgi import application
from tests.games.night_watch import client_of, game_of, moderator, somebody
from tests.sockets import Socket

pytestmark = pytest.mark.django_db


@pytest.fixture
def game(irma: User, max_: User) -> Game:
    return game_of(irma, max_)


def at(game: Game, person: User) -> chat.Place:
    place = chat.place_of(chat.channel_of(game), person.pk)
    assert place is not None
    return place


def words_of(game: Game, person: User) -> list[str]:
    return [str(chat.text(message)) for message in chat.read(at(game, person), person)]


def refused(person: User, game: Game, **said: str) -> str | None:
    with pytest.raises(ValidationError) as raised:
        chat.say(person, at(game, person), **said)
    return raised.value.code


def test_players_hear_each_other_and_watchers_do_not(game: Game, irma: User, max_: User) -> None:
    watcher = somebody("Fandor")
    chat.say(irma, at(game, irma), words="The safe is open")
    chat.say(watcher, at(game, watcher), words="Take the left one")
    assert words_of(game, max_) == ["The safe is open"]
    assert words_of(game, watcher) == ["Take the left one"]


def test_guests_and_who_is_muted_have_the_ready_sentences(game: Game, irma: User) -> None:
    guest = User.objects.create_guest()
    moderation.mute(irma, timezone.now() + timedelta(hours=1), by="Juve")
    for person, code in ((guest, "chat_guest"), (irma, "chat_muted")):
        assert refused(person, game, words="Hello there") == code
        chat.say(person, at(game, person), preset="hello")


@pytest.mark.parametrize(
    "words", ["https://x.y", "look at www.best-site", "fo\u200bo.c\u200dom", "cheap . net", "Is it at bit.ly/x?"]
)
def test_links_are_held_back(words: str, game: Game, irma: User) -> None:
    assert refused(irma, game, words=words) == "chat_link"


def test_what_is_too_long_is_refused_before_anything_looks_at_it(game: Game, irma: User) -> None:
    for words in ("x" * (MOST_LETTERS + 1), "x" * 60_000, "www." * MOST_LETTERS):
        assert refused(irma, game, words=words) == "chat_long"
    shown = client_of(irma).post(f"/talk/{chat.channel_of(game)}/", {"words": "x" * (MOST_LETTERS + 1)})
    assert "That is too long: 200 characters at most." in shown.content.decode()
    chat.say(irma, at(game, irma), words=f"  {'x' * MOST_LETTERS}\n")


def test_what_nobody_sees_is_not_said(game: Game, irma: User, max_: User) -> None:
    chat.say(irma, at(game, irma), words="\u202eWell\u2066 \u200b done\0")
    assert words_of(game, max_) == ["Well done"]
    assert refused(irma, game, words="Well\u200b done") == "chat_again"
    assert refused(irma, game, words="\u200b\u202e") == "no_words"


def test_words_beside_a_ready_sentence_are_nothing(game: Game, irma: User, max_: User) -> None:
    chat.say(irma, at(game, irma), preset="hello", words="www.x" * 60_000)
    assert words_of(game, max_) == ["Good evening!"]
    assert refused(irma, game, preset="hello", words="Hey") == "chat_again"


def test_floods_and_echoes_are_held_back(game: Game, irma: User) -> None:
    chat.say(irma, at(game, irma), words="Hey")
    assert refused(irma, game, words=" Hey ") == "chat_again"
    for number in range(chat.MOST - 1):
        chat.say(irma, at(game, irma), words=f"Hey {number}")
    assert refused(irma, game, words="And one") == "chat_flood"
    Message.objects.update(at=timezone.now() - timedelta(minutes=1))
    chat.say(irma, at(game, irma), words="Hey")


def test_what_is_empty_or_no_sentence_of_ours_is_not_said(game: Game, irma: User) -> None:
    assert refused(irma, game, words="  ") == "no_words"
    assert refused(irma, game, preset="boo") == "no_preset"


def test_who_is_ignored_is_not_read_until_one_hears_them_again(game: Game, irma: User, max_: User) -> None:
    chat.say(max_, at(game, max_), words="You fool")
    chat.ignore(irma, max_)
    assert words_of(game, irma) == []
    chat.ignore(irma, max_, blocked=True)
    assert words_of(game, irma) == []
    chat.hear(irma, max_)
    assert words_of(game, irma) == ["You fool"]


def test_somebody_is_blocked_and_heard_again_on_their_own_page(irma: User, max_: User) -> None:
    page, address = client_of(irma), f"/people/{max_.pk}/ignore/"
    assert 'id="blocking"' in page.get("/people/Max/").content.decode()
    assert page.post(address, {"how": "block"}).headers["Location"] == "/people/Max/"
    assert "Hear again" in page.get("/people/Max/").content.decode()
    assert Ignored.objects.get().blocked
    page.post(address, {"how": "hear"})
    assert "Hear again" not in page.get("/people/Max/").content.decode()
    assert not Ignored.objects.exists()


def test_what_a_moderator_hid_is_gone_for_everybody(game: Game, irma: User, max_: User) -> None:
    message = chat.say(max_, at(game, max_), words="You fool")
    acts.hide(moderator(), message, Why(Reason.INSULT))
    assert words_of(game, irma) == words_of(game, max_) == []


def test_a_room_has_a_channel_of_its_own_for_who_sits_there(irma: User, max_: User) -> None:
    room = rooms.open_room(irma)
    inside, outside = (chat.place_of(chat.channel_of_room(room), person.pk) for person in (irma, max_))
    assert inside is not None
    assert outside is not None
    chat.say(irma, inside, words="Sit down, Max")
    assert chat.read(outside, max_) == []
    rooms.sit(room, max_)
    sitting = chat.place_of(chat.channel_of_room(room), max_.pk)
    assert sitting is not None
    assert [message.words for message in chat.read(sitting, max_)] == ["Sit down, Max"]
    assert chat.channel_of_room(room) in client_of(max_).get(f"/rooms/{room.code}/").content.decode()


def test_what_was_said_a_month_ago_is_forgotten_but_not_what_was_reported(irma: User, max_: User, game: Game) -> None:
    message = chat.say(max_, at(game, max_), words="You fool")
    report = reports.file_report(irma, max_, Reason.INSULT, moment=Moment(game, message))
    Message.objects.update(at=timezone.now() - chat.KEPT - timedelta(hours=1))
    chat.say(max_, at(game, max_), words="Sorry for that")
    assert chat.forget_old() == 1
    assert words_of(game, irma) == ["Sorry for that"]
    report.refresh_from_db()
    assert report.said == "You fool"


# The panel ------------------------------------------------------------------------------------------------------------


def test_the_panel_shows_what_was_said_and_takes_what_one_says(game: Game, irma: User, max_: User) -> None:
    address = f"/talk/{chat.channel_of(game)}/"
    page = client_of(irma)
    assert page.post(address, {"words": "<b>Hey</b>"}).status_code == 200
    assert "&lt;b&gt;Hey&lt;/b&gt;" in client_of(max_).get(address).content.decode()
    answer = page.post(address, {"words": "www.x"})
    assert answer.status_code == 422
    assert "Links are held back" in answer.content.decode()


def test_ready_sentences_come_before_words_of_ones_own(game: Game, irma: User) -> None:
    shown = client_of(irma).get(f"/talk/{chat.channel_of(game)}/").content.decode()
    assert 0 < shown.index('name="preset"') < shown.index('name="words"')


def test_the_chat_is_off_for_who_wants_it_off(game: Game, irma: User, max_: User) -> None:
    address = f"/talk/{chat.channel_of(game)}/"
    chat.say(max_, at(game, max_), words="Hey")
    page = client_of(irma)
    assert "Hey" not in page.post(address + "switch/", {"on": "no"}).content.decode()
    assert page.post(address, {"words": "Hello"}).status_code == 422
    assert "Hey" in page.post(address + "switch/", {"on": "yes"}).content.decode()


def test_a_visitor_reads_what_watchers_say_and_says_nothing(game: Game, client: Client) -> None:
    address = f"/talk/{chat.channel_of(game)}/"
    assert "Sign in to speak" in client.get(address).content.decode()
    assert client.post(address, {"preset": "hello"}).status_code == 403
    assert client.get("/talk/g-nowhere/").status_code == 404


def test_somebody_is_muted_and_heard_again_from_the_panel(game: Game, irma: User, max_: User) -> None:
    page, channel = client_of(irma), chat.channel_of(game)
    assert "not heard" in page.post(f"/people/{max_.pk}/ignore/", {"how": "mute", "channel": channel}).content.decode()
    shown = page.post(f"/people/{max_.pk}/ignore/", {"how": "hear", "channel": channel}).content.decode()
    assert "not heard" not in shown


def test_whoever_watches_and_speaks_is_muted_and_heard_again_from_the_panel_too(game: Game) -> None:
    watcher, other = somebody("Fandor"), somebody("Juve")
    chat.say(watcher, at(game, watcher), words="Look left")
    page, channel = client_of(other), chat.channel_of(game)
    muted = page.post(f"/people/{watcher.pk}/ignore/", {"how": "mute", "channel": channel}).content.decode()
    assert "Look left" not in muted
    assert "not heard" in muted
    page.post(f"/people/{watcher.pk}/ignore/", {"how": "hear", "channel": channel})
    assert "Look left" in page.get(f"/talk/{channel}/").content.decode()


# A moderator there ----------------------------------------------------------------------------------------------------


def test_a_moderator_who_looks_on_hides_what_they_read_there(game: Game) -> None:
    watcher, juve = somebody("Fandor"), moderator()
    message = chat.say(watcher, at(game, watcher), words="You fools")
    page, panel = client_of(juve), f"/talk/{chat.channel_of(game)}/"
    address = f"/moderation/messages/{message.pk}/hide/"
    assert f'href="{address}"' in page.get(panel).content.decode()
    form = page.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "You fools" in form
    assert "Insults or hate" in form
    assert page.post(address, {"reason": "?"}).status_code == 422
    answer = page.post(address, {"reason": "insult"}, headers={"HX-Request": "true"})
    assert (answer.status_code, "written down" in answer.content.decode()) == (200, True)
    assert "You fools" not in page.get(panel).content.decode()
    assert Act.objects.get().message == message.pk


def test_nobody_else_is_offered_to_hide_anything_and_who_sits_there_not_either(
    game: Game, irma: User, max_: User
) -> None:
    juve = moderator()
    own = game_of(irma, juve)
    chat.say(somebody("Fandor"), at(game, somebody("Apache")), words="You fools")
    chat.say(max_, at(own, irma), words="You fools")
    assert "/hide/" not in client_of(somebody("Lupin")).get(f"/talk/{chat.channel_of(game)}/").content.decode()
    shown = client_of(juve).get(f"/talk/{chat.channel_of(own)}/").content.decode()
    assert "You fools" in shown
    assert "/hide/" not in shown
    mine = chat.say(juve, at(game, juve), preset="luck")
    assert f"/messages/{mine.pk}/" not in client_of(juve).get(f"/talk/{chat.channel_of(game)}/").content.decode()


def test_no_moderator_reads_by_its_number_what_is_not_said_to_them(game: Game, max_: User) -> None:
    juve, message = moderator(), chat.say(max_, at(game, max_), words="My plan is the safe")
    page, address = client_of(juve), f"/moderation/messages/{message.pk}/hide/"
    assert page.get(address).status_code == 404
    assert "My plan" not in page.post(address, {}).content.decode()


# The doorbell ---------------------------------------------------------------------------------------------------------


@pytest_asyncio.fixture
async def layer(transactional_db: None) -> AsyncIterator[None]:
    yield
    await get_channel_layer().flush()  # type: ignore[union-attr]


async def listening(person: User, channel: str) -> Socket:
    client = await sync_to_async(client_of)(person)
    cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
    headers = [(b"cookie", cookie.encode()), (b"origin", settings.SITE_URL.encode())]
    socket = Socket(application, f"/ws/1/talk/{channel}", headers=headers)
    assert (await socket.connect())[0]
    return socket


async def test_a_page_hears_the_bell_of_its_own_side_and_no_word_of_it(layer: None) -> None:
    irma, max_, watcher = [await sync_to_async(somebody)(name) for name in ("Irma Vep", "Max", "Fandor")]
    game = await sync_to_async(game_of)(irma, max_)
    channel = chat.channel_of(game)
    player, outside = await listening(max_, channel), await listening(watcher, channel)
    place = await sync_to_async(at)(game, irma)
    await sync_to_async(chat.say)(irma, place, words="Hey")
    assert await player.receive_from() == '{"type":"rung"}'
    assert await outside.receive_nothing(timeout=0.3)
    for socket in (player, outside):
        await socket.disconnect()


async def test_the_bell_rings_when_a_moderator_hides_what_was_said_and_when_it_is_shown_again(layer: None) -> None:
    irma, max_ = [await sync_to_async(somebody)(name) for name in ("Irma Vep", "Max")]
    juve = await sync_to_async(moderator)()
    game = await sync_to_async(game_of)(irma, max_)
    message = await sync_to_async(chat.say)(max_, await sync_to_async(at)(game, max_), words="You fool")
    page = await listening(irma, chat.channel_of(game))
    act = await sync_to_async(acts.hide)(juve, message, Why(Reason.INSULT))
    assert await page.receive_from() == '{"type":"rung"}'
    assert await sync_to_async(words_of)(game, irma) == []
    await sync_to_async(undoing.undo)(act, juve)
    assert await page.receive_from() == '{"type":"rung"}'
    assert await sync_to_async(words_of)(game, irma) == ["You fool"]
    await page.disconnect()


async def test_the_bell_falls_silent_with_the_session(layer: None) -> None:
    irma, max_ = [await sync_to_async(somebody)(name) for name in ("Irma Vep", "Max")]
    game = await sync_to_async(game_of)(irma, max_)
    socket = await listening(max_, chat.channel_of(game))
    await sync_to_async(moderation.suspend)(max_, timezone.now() + timedelta(days=1), by="Juve")
    closed = await socket.receive_output()
    assert (closed["type"], closed["code"]) == ("websocket.close", 4401)


async def test_a_channel_that_is_none_is_closed_and_a_word_from_a_page_too(layer: None) -> None:
    irma, max_ = [await sync_to_async(somebody)(name) for name in ("Irma Vep", "Max")]
    game = await sync_to_async(game_of)(irma, max_)
    assert (await (await listening(irma, "g-nowhere")).receive_output())["code"] == 4404
    socket = await listening(irma, chat.channel_of(game))
    await socket.send_to("hello")
    assert (await socket.receive_output())["code"] == 4400
