"""Cases: a queue by urgency and age, each worked on by one moderator at a time, never by one who sat at that table."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from allauth.usersessions.models import UserSession
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from games import chat, ladder
from games.models import Act, Case, Game, Letter, Message, Reason, Report, Seat, What
from games.moderation import letters, roles, sides
from games.moderation.pages import Page, page
from games.moderation.reports import parts, weigh, weigh_reported_by

# A claim that nobody works on is anybody's again.
CLAIMED_FOR = timedelta(minutes=20)
# So many messages before and after a reported one are shown with it.
AROUND = 4


def queue(after: str = "") -> Page[Case]:
    """The open cases, the most urgent first, of equally urgent ones the oldest: a page of them, after a place."""
    cases = Case.objects.filter(decided=None).select_related("about", "claimed_by")
    reports = Report.objects.filter(case=OuterRef("pk")).values("case").annotate(count=Count("pk"))
    return page(cases.annotate(count=Subquery(reports.values("count"))), ("-urgency", "opened", "id"), after)


def is_free(case: Case, moderator: User) -> bool:
    """Whether this moderator may have it, as far as others go."""
    late = case.claimed_at is None or case.claimed_at <= timezone.now() - CLAIMED_FOR
    return case.claimed_by_id in (None, moderator.pk) or late


def claim(case: Case, moderator: User) -> Case:
    """Take a case, or go on with it; ValidationError where another works on it or the moderator has a side in it."""
    with transaction.atomic():
        case = _locked(case)
        _refuse_involved(case, moderator)
        _refuse_taken(case, moderator)
        case.claimed_by, case.claimed_at = moderator, timezone.now()
        case.save(update_fields=["claimed_by", "claimed_at"])
        # Reporters may be better known by now than when they reported.
        weigh(case)
    return case


def release(case: Case, moderator: User) -> None:
    """Give a case back to the queue."""
    Case.objects.filter(pk=case.pk, claimed_by=moderator, decided=None).update(claimed_by=None, claimed_at=None)


def mine(case: Case, moderator: User) -> Case:
    """The case with its row locked, for an act in it; ValidationError where it is not this moderator's."""
    case = _locked(case)
    _refuse_taken(case, moderator)
    if case.claimed_by_id != moderator.pk:
        raise ValidationError(_("Claim this case first."), code="not_claimed")
    # A later report may be about another table.
    _refuse_involved(case, moderator)
    Case.objects.filter(pk=case.pk).update(claimed_at=timezone.now())
    return case


def _locked(case: Case) -> Case:
    return Case.objects.select_for_update().get(pk=case.pk)


def _refuse_involved(case: Case, moderator: User) -> None:
    if sides.is_involved(case, moderator):
        raise ValidationError(_("You have a side in this case."), code="involved")


def _refuse_taken(case: Case, moderator: User) -> None:
    if case.decided:
        raise ValidationError(_("This case is decided."), code="case_decided")
    if not is_free(case, moderator):
        raise ValidationError(_("Another moderator works on this case."), code="case_taken")


def refuse_worked_on(person: User, moderator: User) -> None:
    """For an act without a case on somebody whose case another moderator works on; the case's row is locked by then."""
    waiting = Case.objects.filter(about=person, decided=None).select_for_update(of=["self"])
    case = waiting.select_related("claimed_by").first()
    if case is not None and case.claimed_by is not None and not is_free(case, moderator):
        raise ValidationError(
            _("%(name)s works on a case about this person. Only a suspension does not wait for that."),
            code="case_taken",
            params={"name": case.claimed_by.name},
        )


def decide(case: Case, moderator: User, verdicts: Mapping[int, Report.Verdict], words: str = "") -> Act:
    """Close a case with a verdict on each report that the moderator has seen, by their numbers: everybody who reported
    hears that it was decided, and whoever reported falsely on purpose that it counts against them. It counts against
    nobody else. What was reported later stands in a new case."""
    with transaction.atomic():
        case = mine(case, moderator)
        roles.refuse_too_many(moderator, What.DECIDE)
        last = max(verdicts, default=0)
        reported = list(case.reports.select_related("reporter").order_by("pk"))
        seen = [report for report in reported if report.pk <= last]
        if {report.pk for report in seen} != set(verdicts) or (reported and not seen):
            raise ValidationError(_("The reports in this case have changed. Look at them again."), code="other_reports")
        for report in seen:
            report.verdict = verdicts[report.pk]
        Report.objects.bulk_update(seen, ["verdict"])
        outcome = _outcome(list(verdicts.values()))
        Case.objects.filter(pk=case.pk).update(decided=timezone.now(), decided_by=moderator, outcome=outcome)
        act = Act.objects.create(
            by=moderator,
            person=case.about,
            what=What.DECIDE,
            reason=seen[0].reason if seen else Reason.OTHER,
            words=words,
            before={"reports": len(seen), "urgency": case.urgency},
            after={"outcome": outcome, "verdicts": {str(report.pk): report.verdict for report in seen}},
            case=case,
        )
        abusive = {report.reporter_id for report in seen if report.verdict == Report.Verdict.ABUSIVE}
        _answer(seen, abusive, act)
        _go_on(case, case.reports.filter(pk__gt=last).order_by("at"))
        # Their other cases are locked one by one, and not while this one is.
        transaction.on_commit(partial(weigh_reported_by, abusive), robust=True)
    return act


def _go_on(case: Case, later: QuerySet[Report]) -> None:
    """What came in while somebody decided this case waits in one of its own, since its first report."""
    first = later.first()
    if first is not None:
        new = Case.objects.create(about=case.about, opened=first.at)
        later.update(case=new)
        weigh(new)


def _outcome(verdicts: Sequence[Report.Verdict]) -> Case.Outcome:
    if Report.Verdict.UPHELD in verdicts:
        return Case.Outcome.ACTED
    abusive = bool(verdicts) and all(verdict == Report.Verdict.ABUSIVE for verdict in verdicts)
    return Case.Outcome.ABUSIVE if abusive else Case.Outcome.UNFOUNDED


def _answer(reports: Sequence[Report], abusive: Collection[int], act: Act) -> None:
    """One letter to each who reported; it tells of the decision itself only whom it goes against."""
    latest = {report.reporter_id: report for report in reports}
    for person_id, report in latest.items():
        letters.send(report.reporter, Letter.Kind.DECIDED, report=report, act=act if person_id in abusive else None)


def evidence(case: Case) -> dict[str, Any]:
    """What speaks for and against: the reports with their moments, earlier cases and acts, conduct, ratings, and who
    shares an address."""
    person = case.about
    reports = case.reports.select_related("reporter", "about", "game").prefetch_related("game__seats__user")
    reports = reports.order_by("-at")
    return {
        "reports": [(report, _moment(report), _around(report)) for report in reports],
        "parts": parts(case),
        "earlier": Case.objects.filter(about=person).exclude(pk=case.pk).order_by("-opened")[:20],
        "acts": Act.objects.filter(person=person).select_related("by", "undone_by", "undoes").order_by("-at")[:30],
        "games": Seat.objects.filter(user=person).count(),
        "founded": Report.objects.filter(reporter=person, verdict=Report.Verdict.UPHELD).count(),
        "false": Report.objects.filter(reporter=person, verdict=Report.Verdict.ABUSIVE).count(),
        "shared": shared_addresses(person),
        "conduct": conduct_of(person),
        "ratings": [(pace.label, ladder.standing(person.pk, pace)) for pace in Game.Pace],
    }


def _around(report: Report) -> list[tuple[Message, str | Promise]]:
    """The talk around a reported message, as its reporter could read it: a few messages before and after it."""
    reported = Message.objects.filter(pk=report.message).first() if report.message else None
    if reported is None:
        return []
    side = Message.objects.filter(channel=reported.channel, audience=reported.audience).select_related("author")
    before = list(side.filter(pk__lt=reported.pk).order_by("-pk")[:AROUND])[::-1]
    after = list(side.filter(pk__gte=reported.pk).order_by("pk")[: AROUND + 1])
    return [(message, chat.text(message)) for message in (*before, *after)]


def _moment(report: Report) -> str:
    """Where to see it: in the replay of a game that is over, at the table of one that runs."""
    game = report.game
    if game is None:
        return ""
    if game.ended is None:
        return reverse("games:game", args=[game.code])
    return reverse("games:replay", args=[game.code]) + f"#e={report.seq}"


def conduct_of(person: User) -> list[tuple[str, int]]:
    """How this person left games or stayed to their ends, and how often so; what is forgiven counts no more."""
    known = Seat.objects.filter(user=person, forgiven=False).exclude(conduct="").values("conduct")
    counts = dict(known.annotate(count=Count("pk")).values_list("conduct", "count"))
    return [(str(one.label), counts[one.value]) for one in Seat.Conduct if one.value in counts]


def shared_addresses(person: User) -> list[User]:
    """Who else was signed in from one of this person's addresses: a hint, as flats and schools share theirs too."""
    own = UserSession.objects.filter(user=person).values("ip")
    others = UserSession.objects.filter(ip__in=own).exclude(user=person).values("user")
    return list(User.objects.filter(Q(pk__in=others)).order_by("name")[:10])
