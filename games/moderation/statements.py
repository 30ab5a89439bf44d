"""What a letter says, in the language in effect: what was decided, about what, why, until when, and how to appeal.

The page of letters, the mail and the preview in a moderator's form all show the same statement. The reason and the
words of an act are for the person it was done to; others at the same table read a sentence of their own.
"""

from dataclasses import dataclass
from datetime import datetime

from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.timezone import localtime
from django.utils.translation import gettext as say
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.site_links import link_to
from games import chat
from games.models import FINAL, Act, Appeal, Game, Letter, Report, Room, What

# What an act means to the person it was done to. Nobody gets a letter about an act that is not here.
SENTENCES: dict[str, str | Promise] = {
    What.WARN: _("A moderator warns you."),
    What.MUTE: _("You cannot write to others; the ready sentences stay yours."),
    What.BAR: _("You cannot play ranked games."),
    What.SUSPEND: _("Your account is suspended."),
    What.RENAME: _("Your name was not acceptable here and has been changed."),
    What.HIDE: _("A message of yours has been hidden."),
    What.CLOSE_ROOM: _("A room of yours has been closed."),
    What.REMOVE: _("You have been removed from a room or a game."),
    What.HAND_OVER: _("A room of yours has another owner now."),
    What.FORGIVE: _("What you left unfinished is forgiven."),
    What.ROLE: _("You have another role here now."),
    What.DECIDE: _("It was false on purpose, and counts against you."),
}
# The same to others at that table or in that room.
TO_OTHERS: dict[str, str | Promise] = {
    What.END_GAME: _("A moderator has ended a game of yours. It does not count."),
    What.VOID_GAME: _("A game of yours no longer counts for the ratings."),
    What.CLOSE_ROOM: _("A room in which you sat has been closed."),
    What.HAND_OVER: _("A room in which you sit has another owner now."),
}
NEW_OWNER = _("You are the owner of this room now.")
NOT_ABOUT_YOU = _("Everybody there gets this letter. It does not mean that you did anything wrong.")
# What an act had been, once it is reversed.
REVERSED: dict[str, str | Promise] = {
    What.WARN: _("You had been warned."),
    What.MUTE: _("You had been muted."),
    What.BAR: _("You had been barred from ranked games."),
    What.SUSPEND: _("Your account had been suspended."),
    What.RENAME: _("Your name had been changed."),
    What.HIDE: _("A message of yours had been hidden."),
    What.CLOSE_ROOM: _("A room had been closed."),
    What.REMOVE: _("You had been removed from a room or a game."),
    What.HAND_OVER: _("A room had been given to another owner."),
    What.VOID_GAME: _("A game of yours had been taken out of the ratings. It counts again."),
    What.FORGIVE: _("What you left unfinished had been forgiven. It counts again."),
    What.ROLE: _("You had been given another role."),
    What.DECIDE: _("A report of yours had been found false on purpose. It no longer counts against you."),
}
OUTCOMES: dict[str, str | Promise] = {
    Report.Verdict.UPHELD: _("A moderator found that you were right, and has acted on it."),
    Report.Verdict.UNFOUNDED: _("A moderator found nothing against the rules."),
    Report.Verdict.ABUSIVE: _("A moderator found nothing against the rules."),
}
# What answers no appeal: what was done for a person's good, and what administrators settle among themselves.
NOT_AGAINST = frozenset({What.FORGIVE, What.ROLE})


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a letter names; `link` is a whole address or empty, `at` a moment that the reader's page shows in
    their own time."""

    label: str
    value: str = ""
    at: datetime | None = None
    link: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """A letter in words, ready for a page or a mail."""

    sentences: list[str]
    facts: list[Fact]
    # The moderators' own words, and when the decision was reversed, if it was.
    words: list[str]
    reversed_at: datetime | None
    # How this was decided and what can be done about it, with the address at which to appeal or nothing.
    closing: list[str]
    appeal: str


def is_told(what: str) -> bool:
    """Whether the person an act is done to gets a letter about it."""
    return what in SENTENCES


def can_be_appealed(act: Act) -> bool:
    """Whether anybody who had a letter about this act may appeal against it."""
    return act.may_be_undone and act.what not in NOT_AGAINST


def statement_of(letter: Letter, appeal: Appeal | None = None) -> Statement:
    """Put a letter into words; `appeal` is what its reader has answered to the act, if anything. Letters that are not
    stored yet do as well: nothing is written."""
    if letter.kind == Letter.Kind.UNDONE:
        return _of_reversal(letter)
    if letter.kind == Letter.Kind.DECIDED:
        return _of_decision(letter, appeal)
    if letter.kind == Letter.Kind.REFUSED:
        return _of_refusal(letter)
    return _of_act(letter, appeal)


def _of_act(letter: Letter, appeal: Appeal | None) -> Statement:
    act = letter.act
    if act is None:
        return Statement([], [], [], None, [], "")
    closing, address = _ways_on(act, appeal)
    facts = [Fact(say("Decided"), at=act.at), *_what_about(act, letter.person_id)]
    if not _is_about(act, letter.person_id):
        return Statement(_to_others(act, letter.person_id), facts, [], _reversed_at(act), closing, address)
    if act.reason:
        facts.append(Fact(say("Reason"), str(act.get_reason_display())))
    if act.until is not None:
        facts.append(until(act.until))
    words = [act.words] if act.words else []
    return Statement([str(SENTENCES.get(act.what, ""))], facts, words, _reversed_at(act), closing, address)


def _is_about(act: Act, reader: int) -> bool:
    return act.person_id == reader


def _to_others(act: Act, reader: int) -> list[str]:
    if act.what == What.HAND_OVER and act.after.get("owner") == reader:
        return [str(NEW_OWNER)]
    return [str(TO_OTHERS.get(act.what, "")), str(NOT_ABOUT_YOU)]


def _of_reversal(letter: Letter) -> Statement:
    if letter.report is not None:
        sentences = [say("The decision about your report has been reversed. It will be looked at again.")]
        return Statement(sentences, _of_report(letter.report), _own_words(letter), None, [], "")
    act = letter.act
    if act is None:
        return Statement([], [], _own_words(letter), None, [], "")
    day = date_format(localtime(act.at), "DATE_FORMAT")
    sentences = [
        say("A moderator's decision of %(day)s has been reversed.") % {"day": day},
        str(REVERSED.get(act.what, "")),
    ]
    if act.what == What.DECIDE:
        sentences.append(say("The report will be looked at again."))
    facts = [Fact(say("Reversed"), at=letter.at), *_what_about(act, letter.person_id)]
    return Statement(sentences, facts, _own_words(letter), None, [], "")


def _of_decision(letter: Letter, appeal: Appeal | None) -> Statement:
    report, act = letter.report, letter.act
    decision = act or (_decision_on(report, letter.at) if report is not None else None)
    sentences = [say("Your report has been looked at and decided. Thank you.")]
    facts: list[Fact] = []
    if report is not None:
        verdict = (decision.after.get("verdicts", {}) if decision else {}).get(str(report.pk), report.verdict)
        if verdict in OUTCOMES:
            sentences.append(str(OUTCOMES[verdict]))
        facts = _of_report(report)
    # Of several reports in one case, any may have been false.
    closing, address = [say("A moderator decided this, no program.")], ""
    if act is not None:
        sentences = [say("Your report has been looked at and decided."), str(SENTENCES[What.DECIDE])]
        closing, address = _ways_on(act, appeal)
    return Statement(sentences, facts, [], _reversed_at(decision) if decision else None, closing, address)


def _decision_on(report: Report, at: datetime) -> Act | None:
    """The decision that a letter of that moment tells of."""
    decisions = Act.objects.filter(what=What.DECIDE, case=report.case_id, at__lte=at).select_related("undone_by")
    return decisions.order_by("-at", "-pk").first()


def _of_refusal(letter: Letter) -> Statement:
    act = letter.act
    sentences = [say("Another moderator has looked at your appeal. The decision stands.")]
    facts: list[Fact] = []
    if act is not None:
        told = SENTENCES if _is_about(act, letter.person_id) else TO_OTHERS
        sentences.append(say("This is what it was about: “%(sentence)s”") % {"sentence": str(told.get(act.what, ""))})
        facts = [Fact(say("Decided"), at=act.at), *_what_about(act, letter.person_id)]
        if _is_about(act, letter.person_id) and act.until is not None:
            facts.append(until(act.until))
    closing = [say("There is no second appeal.")]
    return Statement(sentences, facts, _own_words(letter), _reversed_at(act) if act else None, closing, "")


def _own_words(letter: Letter) -> list[str]:
    return [letter.words] if letter.words else []


def _reversed_at(act: Act) -> datetime | None:
    return act.undone_by.at if act.is_undone else None


def _ways_on(act: Act, appeal: Appeal | None) -> tuple[list[str], str]:
    """Who decided, and what can be done about it."""
    said = [say("A moderator decided this, no program.")]
    if act.is_undone or act.what in NOT_AGAINST:
        return said, ""
    if appeal is not None:
        waits = say("You have appealed. Another moderator will look at it.")
        return [*said, say("Your appeal has been decided.") if appeal.decided else waits], ""
    if act.what in FINAL:
        return [*said, str(FINAL[act.what]), say("That is why there is no appeal against it.")], ""
    address = link_to("games:appeal", act.pk) if act.pk else link_to("games:letters")
    return [*said, say("You can appeal once. Another moderator will look at it.")], address


# What it is about -----------------------------------------------------------------------------------------------------


def until(moment: datetime) -> Fact:
    if moment.year == 9999:
        return Fact(say("Until"), say("for good"))
    return Fact(say("Until"), at=moment)


def _what_about(act: Act, reader: int) -> list[Fact]:
    """The game, room, message or name that an act concerns, as far as they are still known."""
    facts = []
    if act.game_id is not None:
        facts += _of_game(Game.objects.filter(pk=act.game_id).first(), reader)
    if act.room:
        facts.append(_of_room(act.room))
    if act.person_id == reader:
        facts += _of_message(act, reader)
        if act.what == What.RENAME and "name" in act.before:
            facts.append(Fact(say("Your former name"), str(act.before["name"])))
        if act.what == What.RENAME and "name" in act.after:
            facts.append(Fact(say("Your name now"), str(act.after["name"])))
        if act.what == What.ROLE and act.role_now:
            facts.append(Fact(say("Role"), act.role_now))
    return facts


def _of_game(game: Game | None, reader: int | None) -> list[Fact]:
    if game is None:
        return []
    people = User.objects.filter(seats__game=game).exclude(pk=reader or 0).order_by("seats__number")
    names = ", ".join(people.values_list("name", flat=True))
    link = link_to("games:story" if game.ended else "games:game", game.code)
    return [Fact(say("Game"), say("with %(names)s") % {"names": names} if names else "", game.created, link)]


def _of_room(code: str) -> Fact:
    room = Room.objects.filter(code=code).select_related("owner").first()
    owner = room.owner.name if room is not None and room.owner is not None else ""
    value = say("Room of %(name)s") % {"name": owner} if owner else code
    return Fact(say("Room"), value, link=link_to("games:room", code) if room else "")


def _of_message(act: Act, reader: int) -> list[Fact]:
    said = act.before.get("said")
    if not said:
        return []
    facts = [Fact(say("Your message"), f"“{chat.PRESETS.get(said, said)}”")]
    kind, _dash, code = str(act.before.get("channel", "")).partition("-")
    if kind == "g":
        facts += _of_game(Game.objects.filter(code=code).first(), reader)
    elif kind == "r":
        facts.append(_of_room(code))
    return facts


def _of_report(report: Report) -> list[Fact]:
    facts = [
        Fact(say("Your report about"), report.about.name),
        Fact(say("Reported"), at=report.at),
        Fact(say("Reason"), str(report.get_reason_display())),
    ]
    return [*facts, *_of_game(report.game, report.reporter_id)]
