"""Letters say what was decided, about what, why, until when, by whom, and how to appeal."""

import html
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.utils import timezone, translation

from accounts.models import User
from games import chat
from games.models import Act, Letter, Message, Reason, Report
from games.moderation import acts, appeals, cases, undoing
from games.moderation.acts import Why
from games.moderation.statements import Statement, statement_of
from midnight.celery import app
from tests.games.finished import finished
from tests.games.night_watch import claimed, client_of, decided, game_of, moderator, reported

pytestmark = pytest.mark.django_db
WHY = Why(Reason.THREAT, "Not like this.")
NO_PROGRAM = "A moderator decided this, no program."


@pytest.fixture(autouse=True)
def english() -> None:
    translation.activate("en")


def told(person: User, kind: str = "act") -> Statement:
    """The last letter of that kind to this person."""
    return statement_of(Letter.objects.filter(person=person, kind=kind).latest("pk"))


def facts(statement: Statement) -> dict[str, str]:
    return {fact.label: fact.value for fact in statement.facts}


def page_of(person: User) -> str:
    return html.unescape(client_of(person).get("/letters/").content.decode())


def test_a_penalty_says_when_why_until_when_and_how_to_appeal(juve: User, max_: User) -> None:
    until = timezone.now() + timedelta(days=1)
    act = acts.mute(juve, max_, until, WHY)
    said = told(max_)
    assert facts(said)["Reason"] == "Threats"
    assert {fact.label: fact.at for fact in said.facts if fact.at} == {"Decided": act.at, "Until": until}
    assert said.words == ["Not like this."]
    assert said.closing[0] == NO_PROGRAM
    assert said.appeal.endswith(f"/letters/{act.pk}/appeal/")
    assert said.appeal.startswith("http")


def test_a_hidden_message_is_quoted_with_its_game(juve: User, max_: User, irma: User) -> None:
    game = game_of(irma, max_)
    message = Message.objects.create(channel=chat.channel_of(game), audience="players", author=max_, words="You fool")
    acts.hide(juve, message, WHY)
    said = told(max_)
    assert facts(said)["Your message"] == "“You fool”"
    assert facts(said)["Game"] == "with Irma Vep"
    assert any(fact.link.endswith(f"/games/{game.code}/") for fact in said.facts)


def test_a_void_game_blames_none_of_those_who_sat_there(juve: User, max_: User, irma: User) -> None:
    game = finished("fr-3-ranked", [max_, irma])
    act = Act.objects.create(by=juve, what="void_game", reason="threat", words="He threatened her.", game=game)
    for person, other in ((max_, irma), (irma, max_)):
        Letter.objects.create(person=person, kind="act", act=act)
        page = page_of(person)
        assert "Threats" not in page
        assert "He threatened her." not in page
        assert "It does not mean that you did anything wrong." in page
        assert f"with {other.name}" in page
        assert f"/games/{game.code}/story/" in page


@pytest.mark.django_db(transaction=True)
def test_a_mail_says_the_same_as_the_page(juve: User, max_: User) -> None:
    EmailAddress.objects.create(user=max_, email="max@example.org", verified=True, primary=True)
    User.objects.filter(pk=max_.pk).update(language="de")
    max_.refresh_from_db()
    app.conf.task_always_eager = True
    try:
        act = acts.bar(juve, max_, timezone.now() + timedelta(days=1), WHY)
    finally:
        app.conf.task_always_eager = False
    body = mail.outbox[0].body
    with translation.override("de"):
        said = told(max_)
    for sentence in (*said.sentences, *said.closing, *said.words, said.appeal):
        assert sentence in body
    assert "(UTC)" in body
    assert f"/letters/{act.pk}/appeal/" in body


def test_a_reversal_speaks_of_the_past_and_marks_the_first_letter(juve: User, max_: User) -> None:
    act = acts.mute(juve, max_, timezone.now() + timedelta(days=1), WHY)
    undoing.undo(act, moderator("Lupin"), "A mistake.")
    said = told(max_, "undone")
    assert "has been reversed" in said.sentences[0]
    assert said.sentences[1] == "You had been muted."
    assert "Until" not in facts(said)
    assert said.words == ["A mistake."]
    assert told(max_).reversed_at
    assert not told(max_).appeal
    assert page_of(max_).count("You cannot write to others") == 1
    assert "no longer in force" in page_of(max_)


@pytest.mark.parametrize(
    ("verdict", "outcome"),
    [
        (Report.Verdict.UPHELD, "A moderator found that you were right, and has acted on it."),
        (Report.Verdict.UNFOUNDED, "A moderator found nothing against the rules."),
        (Report.Verdict.ABUSIVE, "It was false on purpose, and counts against you."),
    ],
)
def test_a_reporter_reads_which_report_and_what_came_of_it(
    verdict: Report.Verdict, outcome: str, juve: User, max_: User, irma: User
) -> None:
    case = cases.claim(reported(irma, max_).case, juve)
    act = decided(case, juve, verdict)
    said = told(irma, "decided")
    assert said.sentences[1] == outcome
    assert facts(said)["Your report about"] == "Max"
    assert said.reversed_at is None
    undoing.undo(act, moderator("Lupin"))
    assert told(irma, "decided").reversed_at
    assert told(irma, "decided").sentences[1] == outcome
    assert "looked at again" in " ".join(told(irma, "undone").sentences)


def test_a_refused_appeal_names_the_decision_that_stands(juve: User, max_: User) -> None:
    act = acts.bar(juve, max_, timezone.now() + timedelta(days=1), WHY)
    waiting = appeals.appeal(act, max_, "It was a joke.")
    assert "You have appealed." in page_of(max_)
    appeals.decide(waiting, moderator("Lupin"), granted=False, answer="It was none.")
    said = told(max_, "refused")
    assert "The decision stands." in said.sentences[0]
    assert "You cannot play ranked games." in said.sentences[1]
    assert {fact.label for fact in said.facts} >= {"Decided", "Until"}


def test_a_new_owner_reads_that_the_room_is_theirs(juve: User, max_: User, irma: User) -> None:
    act = Act(by=juve, person=max_, what="hand_over", reason="insult", after={"owner": irma.pk})
    said = statement_of(Letter(person=irma, kind="act", act=act))
    assert said.sentences == ["You are the owner of this room now."]
    assert "Reason" not in facts(said)


def test_an_act_in_a_case_tells_its_person_alone_why(juve: User, max_: User, irma: User) -> None:
    case = claimed(max_, juve, irma)
    acts.warn(juve, max_, Why(Reason.INSULT, "Stop it.", case))
    assert facts(told(max_))["Reason"] == "Insults or hate"
    assert not Letter.objects.filter(person=irma).exists()
