"""What people take along of what was done to them: what they were told, and not what the log keeps for itself."""

import pytest

from accounts import export
from games.models import Reason, Report
from games.moderation import acts, cases, undoing
from games.moderation.acts import Why
from tests.games.night_watch import claimed, moderator, somebody

pytestmark = pytest.mark.django_db


def test_a_decision_about_somebody_and_its_undoing_stay_with_the_moderators() -> None:
    juve, max_ = moderator(), somebody("Max")
    case = claimed(max_, juve, somebody("Irma Vep"))
    warned = acts.warn(juve, max_, Why(Reason.INSULT, "Not like this.", case))
    verdicts = {report.pk: Report.Verdict.UPHELD for report in case.reports.all()}
    act = cases.decide(case, juve, verdicts, "Irma is believed.")
    undoing.undo(act, juve, "Irma is not believed.")
    undoing.undo(warned, moderator("Lupin"), "A mistake.")
    taken = export.everything(max_)["moderation"]["acts"]
    assert [(one["what"], one["words"]) for one in taken] == [("warn", "Not like this."), ("undo", "A mistake.")]
