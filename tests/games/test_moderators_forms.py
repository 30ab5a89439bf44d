"""Moderators' forms: nothing preset, only what fits and is possible, and the letter shown first."""

import html
import json
import re

import pytest
from django.utils import timezone

from accounts.models import User
from games import chat, rooms
from games.models import Act, Game, Letter, Message, Reason, What
from games.moderation import cases, reports
from games.moderation.forms import ActForm, GameActForm, RoomActForm
from games.moderation.reasons import REASONS
from games.moderation.reports import Moment
from tests.games.finished import finished
from tests.games.night_watch import client_of, game_of, moderator, somebody

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def acts_of(game: Game) -> list[str]:
    game.refresh_from_db()
    return list(GameActForm(game=game, people=[]).acts_now)


def test_no_form_of_a_moderator_has_a_choice_made(juve: User, max_: User, irma: User) -> None:
    case = cases.claim(reports.file_report(irma, max_, Reason.THREAT, "", Moment(None)).case, juve)
    room = rooms.open_room(max_)
    game = game_of(somebody("Fandor"), irma)
    office = client_of(juve)
    for address in (f"people/{max_.pk}", f"cases/{case.pk}", f"games/{game.code}", f"rooms/{room.code}"):
        page = office.get(f"/moderation/{address}/").content.decode()
        form = page[page.index("data-fitting") :]
        for name in ("what", "hours", "reason", "person"):
            found = re.search(rf'<select name="{name}".*?</select>', form, re.S)
            assert found is None or not re.search(r'<option value="[^"]+" selected', found[0]), (address, name)


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"what": "", "reason": "insult"}, "what"),
        ({"what": "warn", "reason": ""}, "reason"),
        ({"what": "warn", "reason": "stale"}, "reason"),
        ({"what": "rename", "reason": "cheating"}, "reason"),
        ({"what": "mute", "reason": "insult", "hours": ""}, "hours"),
    ],
)
def test_what_does_not_fit_the_act_is_refused(said: dict[str, str], field: str, juve: User, max_: User) -> None:
    form = ActForm(said)
    assert not form.is_valid()
    assert list(form.errors) == [field]
    assert client_of(juve).post(f"/moderation/people/{max_.pk}/", said).status_code == 422
    assert not Act.objects.exists()


def test_a_script_gets_what_fits_each_act(max_: User) -> None:
    fitting = json.loads(ActForm().fitting)
    assert fitting["rename"] == {"reasons": ["name", "other"], "hours": False, "person": False}
    assert fitting["mute"]["hours"]
    assert set(fitting) < {*REASONS}


def test_only_acts_that_are_possible_now_are_offered(max_: User, irma: User) -> None:
    game = game_of(max_, irma)
    assert acts_of(game) == ["end_game", "remove", "watch"]
    over = finished("fr-3-ranked", [max_, irma, somebody("Fandor")])
    assert acts_of(over) == ["void_game"]
    Game.objects.filter(pk=over.pk).update(voided=timezone.now())
    assert acts_of(over) == []
    room = rooms.open_room(somebody("Nick"))
    assert RoomActForm(room=room, people=[]).acts_now
    room.closed = timezone.now()
    assert not RoomActForm(room=room, people=[]).acts_now


def test_ending_a_game_that_is_over_is_refused(juve: User, max_: User, irma: User) -> None:
    over = finished("fr-2", [max_, irma])
    office = client_of(juve)
    assert "there is nothing to do about it" in office.get(f"/moderation/games/{over.code}/").content.decode()
    answer = office.post(f"/moderation/games/{over.code}/", {"what": "end_game", "reason": "insult"})
    assert answer.status_code == 422
    assert "This is not possible now." in answer.content.decode()


def test_the_preview_shows_the_letter_and_stores_nothing(juve: User, max_: User, irma: User) -> None:
    office, room = client_of(juve), rooms.open_room(max_, size=3)
    rooms.sit(room, irma)
    game = game_of(somebody("Fandor"), somebody("Nick"))

    def preview(address: str, **said: object) -> str:
        answer = office.post(f"/moderation/{address}/letter/", said, headers=HTMX)
        assert answer.status_code == 200
        return html.unescape(answer.content.decode())

    person = preview(f"people/{max_.pk}", what="mute", hours="24", reason="insult", words="Calm down.")
    for part in ("To: Max", "You cannot write to others", "Insults or hate", "Calm down.", "Until", "You can appeal"):
        assert part in person
    assert "Choose what to do" in preview(f"people/{max_.pk}")
    ended = preview(f"games/{game.code}", what="end_game", reason="threat", words="He shouts.")
    assert "Everybody at the table" in ended
    assert "Threats" not in ended
    assert "He shouts." not in ended
    assert "Nobody gets a letter" in preview(f"games/{game.code}", what="watch", reason="threat")
    handed = preview(f"rooms/{room.code}", what="hand_over", reason="spam", person=irma.pk)
    assert "A room of yours has another owner now." in handed
    assert "You are the owner of this room now." in handed
    assert not Act.objects.exists()
    assert not Letter.objects.exists()


def test_hiding_a_message_shows_its_letter_first(juve: User, max_: User, irma: User) -> None:
    game = game_of(max_, irma)
    place = chat.place_of(chat.channel_of(game), max_.pk)
    assert place is not None
    message = chat.say(max_, place, words="You fool")
    case = cases.claim(reports.file_report(irma, max_, Reason.INSULT, "", Moment(game, message)).case, juve)
    office, address = client_of(juve), f"/moderation/messages/{message.pk}/hide/"
    assert f"{address}?case={case.pk}" in office.get(f"/moderation/cases/{case.pk}/").content.decode()
    page = office.get(f"{address}?case={case.pk}").content.decode()
    assert f'data-preview="{address}letter/"' in page
    assert not re.search(r'<option value="[^"]+" selected', page.split('name="reason"')[1])
    said = {"reason": "insult", "words": "Calm down.", "case": case.pk}
    letter = html.unescape(office.post(f"{address}letter/", said).content.decode())
    for part in ("To: Max", "A message of yours has been hidden.", "You fool", "Insults or hate", "Calm down."):
        assert part in letter
    message.refresh_from_db()
    assert (message.hidden, Act.objects.count(), Letter.objects.count()) == (False, 0, 0)
    answer = office.post(f"{address}?case={case.pk}", said, headers=HTMX)
    assert answer.headers["HX-Redirect"] == f"/moderation/cases/{case.pk}/"
    message.refresh_from_db()
    assert message.hidden


def test_giving_a_role_shows_its_letter_first(juve: User, max_: User) -> None:
    nick = moderator("Nick", administrator=True)
    office, address = client_of(nick), f"/moderation/people/{max_.pk}/role/letter/"
    assert f'data-preview="{address}"' in office.get(f"/moderation/people/{max_.pk}/").content.decode()
    letter = html.unescape(office.post(address, {"role": "moderator", "words": "Welcome."}).content.decode())
    for part in ("To: Max", "You have another role here now.", "moderator</dd>", "Welcome."):
        assert part in letter
    assert "Choose what to do" in office.post(address, {"role": "player"}).content.decode()
    assert client_of(juve).post(address, {"role": "moderator"}).status_code == 403
    max_.refresh_from_db()
    assert (max_.is_staff, Act.objects.count(), Letter.objects.count()) == (False, 0, 0)


def test_only_staff_previews_letters(max_: User, irma: User) -> None:
    answer = client_of(irma).post(f"/moderation/people/{max_.pk}/letter/", {"what": "warn"}, headers=HTMX)
    assert answer.status_code == 403


def test_pages_lead_staff_to_their_moderation(juve: User, max_: User, irma: User) -> None:
    over, room = finished("fr-2", [max_, irma]), rooms.open_room(max_)
    Message.objects.create(channel=chat.channel_of_room(room), audience="watchers", author=irma, words="Hello")
    apache = somebody("Apache")
    for page, target in (
        (f"/games/{over.code}/story/", f"/moderation/games/{over.code}/"),
        (f"/rooms/{room.code}/", f"/moderation/rooms/{room.code}/"),
        ("/people/Max/", f"/moderation/people/{max_.pk}/"),
        (f"/talk/{chat.channel_of_room(room)}/", f"/moderation/rooms/{room.code}/"),
        (f"/talk/{chat.channel_of_room(room)}/", f"/moderation/people/{irma.pk}/"),
    ):
        assert f'"{target}"' in client_of(juve).get(page).content.decode(), page
        assert "/moderation/" not in client_of(apache).get(page).content.decode(), page


def test_a_case_shows_the_talk_around_the_reported_line(juve: User, max_: User, irma: User) -> None:
    game = game_of(max_, irma)
    channel = chat.channel_of(game)

    def said(author: User, words: str, audience: str = "players") -> Message:
        return Message.objects.create(channel=channel, audience=audience, author=author, words=words)

    lines = [said(irma if number % 2 else max_, f"Line {number:02}") for number in range(12)]
    said(somebody("Fandor"), "From the watchers", "watchers")
    report = reports.file_report(irma, max_, Reason.INSULT, "", Moment(game, lines[6]))
    other = Message.objects.create(channel="g-other", audience="players", author=max_, words="At another table")
    page = client_of(juve).get(f"/moderation/cases/{report.case_id}/").content.decode()
    assert re.findall(r"Line \d\d", page.split("<blockquote>")[0]) == [f"Line {n:02}" for n in range(2, 11)]
    assert "From the watchers" not in page
    assert other.words not in page
    assert client_of(irma).get(f"/moderation/cases/{report.case_id}/").status_code == 403


def test_games_are_named_by_date_and_players(juve: User, max_: User, irma: User) -> None:
    game = game_of(max_, irma)
    page = client_of(juve).get(f"/moderation/people/{max_.pk}/").content.decode()
    link = re.search(rf'<a href="/moderation/games/{game.code}/">(.*?)</a>', page, re.S)
    assert link
    assert "Irma Vep" in link[1]
    assert game.code not in link[1]


def test_every_act_with_a_form_has_its_reasons() -> None:
    assert {*What} - {*REASONS} == {What.ROLE, What.DECIDE, What.UNDO}
