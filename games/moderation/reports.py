"""Reports: one tap, with the moment it is about, into the one open case of whoever it is about."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from accounts import sessions
from accounts.models import User
from games.models import Case, Game, Message, Reason, Report
from games.moderation.weighing import Kind, Part, Said, parts_of
from games.ranked import newcomer_of

MOST_A_DAY = 20
DAY = timedelta(days=1)
# Whoever reported falsely on purpose so often within so long reports nobody for that long.
MOST_ABUSIVE, ABUSE_COUNTS = 2, timedelta(days=30)
# One sweep weighs so many cases at most; the rest has its turn a minute later.
MOST = 500


@dataclass(frozen=True, slots=True)
class Moment:
    """What a report is about besides the person; without `seq` the game is meant as it is now."""

    game: Game | None = None
    message: Message | None = None
    seq: int | None = None

    def in_the_log(self) -> int | None:
        """The event of the game that is meant: there is none beyond its head."""
        if self.game is None:
            return None
        head = Game.objects.values_list("head", flat=True).get(pk=self.game.pk)
        return head if self.seq is None else min(self.seq, head)


def file_report(reporter: User, about: User, reason: Reason, words: str = "", moment: Moment | None = None) -> Report:
    """Report somebody; ValidationError where it is refused."""
    moment = moment or Moment()
    _refuse(reporter, about, moment)
    game, message = moment.game, moment.message
    # A reporter who has played enough counts as established, without having looked at ranked games.
    newcomer_of(reporter)
    with transaction.atomic():
        case = _open_case(about)
        report = Report.objects.create(
            case=case,
            reporter=reporter,
            about=about,
            reason=reason,
            words=words,
            game=game,
            seq=moment.in_the_log(),
            message=None if message is None else message.pk,
            channel="" if message is None else message.channel,
            said="" if message is None else message.words or message.preset,
            household=_household_of(reporter, about),
        )
        weigh(case)
    return report


def _open_case(about: User) -> Case:
    """The person's open case, its row locked; a new one where there is none. Two who report at once find the same."""
    for _again in range(2):
        case = Case.objects.select_for_update().filter(about=about, decided=None).first()
        if case:
            return case
        try:
            with transaction.atomic():
                return Case.objects.create(about=about)
        except IntegrityError:
            continue
    return Case.objects.select_for_update().get(about=about, decided=None)


def weigh(case: Case) -> None:
    """Put an open case where it belongs in the queue, by what is known now; the caller holds its row."""
    case.live = _running(case.pk).exists()
    case.urgency = urgency(case)
    case.save(update_fields=["urgency", "live"])


def urgency(case: Case) -> int:
    """What the voices in a case weigh together; the word of a false reporter counts nothing."""
    return sum(part.points for part in parts(case))


def parts(case: Case) -> list[Part]:
    """Why a case is as urgent as it is, now."""
    return parts_of(_said(_heard(case.reports.all())))


def _said(reports: QuerySet[Report]) -> Iterator[Said]:
    columns = ("reporter", "reporter__is_guest", "reporter__established_at", "household", "reason")
    for reporter, is_guest, established_at, household, reason, game, ended in reports.values_list(
        *columns, "game", "game__ended"
    ):
        kind = Kind.GUEST if is_guest else Kind.ESTABLISHED if established_at else Kind.NEWCOMER
        yield Said(reporter, kind, household, reason, live=game is not None and ended is None)


def _household_of(reporter: User, about: User) -> str:
    """What stands for the reporter's household in the cases about that person, and nowhere else; empty if unknown."""
    homes = sessions.households_of([reporter.pk]).get(reporter.pk)
    return salted_hmac("games.report", f"{about.pk}:{min(homes)}").hexdigest()[:16] if homes else ""


def _heard(said: QuerySet[Report]) -> QuerySet[Report]:
    """Those of these reports that are no false reporter's."""
    return said.filter(~Exists(_lately_abusive().filter(reporter=OuterRef("reporter"))))


def _running(case: int | OuterRef) -> QuerySet[Report]:
    """The reports in a case that make it count as live."""
    return _heard(Report.objects.filter(case=case, game__isnull=False, game__ended=None))


def weigh_ended() -> int:
    """Weigh anew the open cases of which no game runs any more; the answer is how many."""
    due = Case.objects.filter(~Exists(_running(OuterRef("pk"))), decided=None, live=True).order_by("pk")
    return sum(_weigh_anew(case) for case in list(due.values_list("pk", flat=True)[:MOST]))


def weigh_reported_by(people: Collection[int]) -> None:
    """Weigh anew the open cases in which these people reported: their word counts less since, or more again."""
    said = Report.objects.filter(reporter__in=people)
    due = Case.objects.filter(pk__in=said.values("case"), decided=None).order_by("pk")
    for case in list(due.values_list("pk", flat=True)):
        _weigh_anew(case)


def _weigh_anew(case_id: int) -> bool:
    with transaction.atomic():
        case = Case.objects.select_for_update().filter(pk=case_id, decided=None).first()
        if case is None:
            return False
        weigh(case)
    return True


def abusive_reports(person_id: int) -> int:
    """How often this person reported falsely on purpose, lately."""
    return _lately_abusive().filter(reporter=person_id).count()


def _lately_abusive() -> QuerySet[Report]:
    return Report.objects.filter(verdict=Report.Verdict.ABUSIVE, at__gt=timezone.now() - ABUSE_COUNTS)


def _refuse(reporter: User, about: User, moment: Moment) -> None:
    if reporter.pk == about.pk:
        raise ValidationError(_("You cannot report yourself."), code="report_yourself")
    if abusive_reports(reporter.pk) >= MOST_ABUSIVE:
        raise ValidationError(
            _("Your last reports were false on purpose. You can report again in a month."), code="report_barred"
        )
    mine = Report.objects.filter(reporter=reporter)
    if mine.filter(at__gt=timezone.now() - DAY).count() >= MOST_A_DAY:
        raise ValidationError(_("That is enough for one day."), code="report_flood")
    again = mine.filter(about=about, case__decided=None, game=moment.game)
    if again.filter(message=None if moment.message is None else moment.message.pk).exists():
        raise ValidationError(_("You have reported this already."), code="reported_already")
