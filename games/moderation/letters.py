"""Letters to people: kept on the site, sent by mail to a confirmed address, read in the reader's own language."""

from collections.abc import Iterable
from functools import partial

from django.utils import timezone

from accounts import letters as mail
from accounts.models import User
from games import news
from games.models import Act, Appeal, Game, Letter, Report
from games.moderation.pages import Page, page
from games.moderation.statements import Statement, statement_of


def send(
    person: User, kind: Letter.Kind, *, act: Act | None = None, report: Report | None = None, words: str = ""
) -> Letter:
    """Write to a person, on the site and by mail; the header of their pages shows at once that a letter has come."""
    letter = Letter.objects.create(person=person, kind=kind, act=act, report=report, words=words)
    news.ring_on_commit(news.of_person(person.pk))
    # Made where the mail is written, in the language of the person.
    mail.to_person(person, "games/letters/moderation", statement=partial(statement_of, letter))
    return letter


def send_to_table(game: Game, act: Act) -> None:
    """Write to everybody who sits or sat at a table."""
    for seat in game.seats.exclude(user=None).select_related("user"):
        if seat.user:
            send(seat.user, Letter.Kind.ACT, act=act)


def send_to_others(people: Iterable[User], act: Act) -> None:
    """Write to whom an act concerns besides the person it was done to."""
    for person in people:
        if person.pk != act.person_id:
            send(person, Letter.Kind.ACT, act=act)


def take_back(act: Act, words: str) -> None:
    """Tell everybody who had a letter about an act that it is undone; of a decision, whoever heard that there is one,
    but the words only whom it went against."""
    for person in User.objects.filter(letters__act=act).distinct().order_by("pk"):
        send(person, Letter.Kind.UNDONE, act=act, words=words)
    for letter in _heard_of_decision(act).values():
        send(letter.person, Letter.Kind.UNDONE, report=letter.report)


def _heard_of_decision(act: Act) -> dict[int, Letter]:
    """The last letter of each who heard that a report of theirs was decided by this act, and nothing more."""
    heard = Letter.objects.filter(kind=Letter.Kind.DECIDED, report__in=act.after.get("verdicts", {}))
    heard = heard.exclude(person__in=Letter.objects.filter(act=act).values("person"))
    return {letter.person_id: letter for letter in heard.select_related("person", "report").order_by("pk")}


def of(person: User, after: str = "") -> Page[Letter]:
    """This person's letters, the latest first: a page of them, after a place."""
    told = Letter.objects.filter(person=person).select_related("act__undone_by", "report__about", "report__game")
    return page(told, ("-at", "-id"), after)


def in_words(told: Iterable[Letter], person: User) -> list[tuple[Letter, Statement]]:
    """These letters of this person, each with what it says."""
    letters = list(told)
    answered = Appeal.objects.filter(person=person, act__in=[one.act_id for one in letters if one.act_id])
    appeals = {appeal.act_id: appeal for appeal in answered}
    return [(letter, statement_of(letter, appeals.get(letter.act_id or 0))) for letter in letters]


def unread(person_id: int) -> int:
    return Letter.objects.filter(person=person_id, read=None).count()


def mark_read(told: Iterable[Letter]) -> None:
    Letter.objects.filter(pk__in=[letter.pk for letter in told], read=None).update(read=timezone.now())
