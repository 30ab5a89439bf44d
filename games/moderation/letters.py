"""Letters to people: kept on the site, sent by mail to whoever has an address, read in their own language."""

from collections.abc import Iterable

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts import letters as mail
from accounts.models import User
from games import news
from games.models import Act, Game, Letter, Report, What
from games.moderation.pages import Page, page

# What an act means to the person it was done to. What is not here is told to nobody.
SENTENCES: dict[str, str | Promise] = {
    What.WARN: _("A moderator warns you."),
    What.MUTE: _("You cannot write to others; the ready sentences stay yours."),
    What.BAR: _("You cannot play ranked games."),
    What.SUSPEND: _("Your account is suspended."),
    What.RENAME: _("Your name was not acceptable here and has been changed."),
    What.HIDE: _("Something that you wrote has been hidden."),
    What.CLOSE_ROOM: _("A room of yours has been closed."),
    What.REMOVE: _("You have been taken out of a room or a game."),
    What.END_GAME: _("A moderator has ended a game of yours. It does not count."),
    What.HAND_OVER: _("A room of yours has another owner now."),
    What.VOID_GAME: _("A game of yours does not count for the ratings any more."),
    What.FORGIVE: _("What you left unfinished is forgiven."),
    What.ROLE: _("You have another role here now."),
    What.DECIDE: _("It was false on purpose, and counts against you."),
}
OTHERS: dict[str, str | Promise] = {
    Letter.Kind.UNDONE: _("This has been taken back:"),
    Letter.Kind.DECIDED: _("Your report has been looked at and decided. Thank you."),
    Letter.Kind.REFUSED: _("Another moderator has looked at your appeal. It stays as it was:"),
}
LOOKED_AT_AGAIN = _("The decision about your report has been taken back. It will be looked at again.")


def send(
    person: User, kind: Letter.Kind, *, act: Act | None = None, report: Report | None = None, words: str = ""
) -> Letter:
    """Write to somebody, on the site and by mail; the header of their pages shows at once that a letter has come."""
    letter = Letter.objects.create(person=person, kind=kind, act=act, report=report, words=words)
    news.ring_on_commit(news.of_person(person.pk))
    mail.to_person(person, "games/letters/moderation", letter=letter, sentences=sentences(letter))
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


def sentences(letter: Letter) -> list[str | Promise]:
    """What it says, in the language of whoever reads."""
    if letter.kind == Letter.Kind.UNDONE and letter.report_id is not None:
        return [LOOKED_AT_AGAIN]
    said = [OTHERS[letter.kind]] if letter.kind in OTHERS else []
    if letter.act and letter.act.what in SENTENCES:
        said.append(SENTENCES[letter.act.what])
    return said


def of(person: User, after: str = "") -> Page[Letter]:
    """This person's letters, the latest first: a page of them, after a place."""
    return page(Letter.objects.filter(person=person).select_related("act__undone_by"), ("-at", "-id"), after)


def unread(person_id: int) -> int:
    return Letter.objects.filter(person=person_id, read=None).count()


def mark_read(told: Iterable[Letter]) -> None:
    Letter.objects.filter(pk__in=[letter.pk for letter in told], read=None).update(read=timezone.now())
