"""What people fill in to report, and what moderators fill in to act.

Nothing that a moderator says about a person is preset. What fits an act is in `reasons`: a form refuses the rest, and
gives `acts.js` the same table so that it shows only what fits.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import FOREVER, Role, User
from games.models import FINAL, Case, Game, Reason, Report, Room, What
from games.models.moderation import MOST_WORDS
from games.moderation.acts import ON_PEOPLE
from games.moderation.reasons import LASTING, REASONS

NOTHING_YET = ("", "–")
# So many reports have each a verdict of their own on one page.
MOST_VERDICTS = 50
VERDICTS = [NOTHING_YET, *Report.Verdict.choices]
# Hours; 0 is for good.
DURATIONS = [
    NOTHING_YET,
    (1, _("an hour")),
    (24, _("a day")),
    (72, _("three days")),
    (168, _("a week")),
    (720, _("thirty days")),
    (0, _("for good")),
]
TO_DO: dict[What, Any] = {
    What.WARN: _("Warn"),
    What.MUTE: _("Mute"),
    What.BAR: _("Bar from ranked games"),
    What.SUSPEND: _("Suspend"),
    What.RENAME: _("Take the name away"),
    What.END_GAME: _("End the game as void"),
    What.REMOVE: _("Remove a player"),
    What.FORGIVE: _("Forgive what was left unfinished"),
    What.VOID_GAME: _("Take the game out of the ratings"),
    What.WATCH: _("Watch unseen"),
    What.CLOSE_ROOM: _("Close the room"),
    What.HAND_OVER: _("Make another the owner"),
}


def words_field(label: Any, *, required: bool = False, hint: Any = "") -> forms.CharField:
    return forms.CharField(
        label=label, required=required, max_length=MOST_WORDS, help_text=hint, widget=forms.Textarea(attrs={"rows": 3})
    )


def reason_field(reasons: Sequence[Reason] = tuple(Reason)) -> forms.ChoiceField:
    choices = [NOTHING_YET, *((one.value, one.label) for one in reasons)]
    return forms.ChoiceField(label=_("Reason"), choices=choices)


class ReportForm(forms.Form):
    """One choice is enough."""

    reason = forms.ChoiceField(
        label=_("What is wrong?"),
        choices=[(one.value, one.label) for one in Reason if one not in (Reason.REPORTS, Reason.STALE)],
        widget=forms.RadioSelect,
    )
    words = words_field(_("In your words"))


class ReportGameForm(ReportForm):
    """The same from a game: who of those in it is meant is said here."""

    about = forms.ModelChoiceField(User.objects.none(), label=_("Who is meant?"), widget=forms.RadioSelect, blank=False)
    field_order = ("about", "reason", "words")

    def __init__(self, *args: Any, people: QuerySet[User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        about = self.fields["about"]
        assert isinstance(about, forms.ModelChoiceField)
        about.queryset = people


class FittingForm(forms.Form):
    """An act, its reason and what else it asks for: only what fits the act is taken."""

    about_one: ClassVar[Sequence[What]] = ()

    what = forms.ChoiceField(label=_("Act"), error_messages={"invalid_choice": _("This is not possible now.")})
    reason = reason_field()

    def __init__(self, *args: Any, acts: Sequence[What], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.acts_now = acts
        what, reason = self.fields["what"], self.fields["reason"]
        assert isinstance(what, forms.ChoiceField)
        assert isinstance(reason, forms.ChoiceField)
        what.choices = [NOTHING_YET, *((one.value, TO_DO[one]) for one in acts)]
        fitting = [one for one in Reason if any(one in REASONS[act] for act in acts)]
        reason.choices = [NOTHING_YET, *((one.value, one.label) for one in fitting)]

    @property
    def fitting(self) -> str:
        """What fits each act, as JSON for `acts.js`."""
        asked = {
            act: {"reasons": REASONS[act], "hours": act in LASTING, "person": act in self.about_one}
            for act in self.acts_now
        }
        return json.dumps(asked)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        what, reason = cleaned.get("what"), cleaned.get("reason")
        if what and reason and reason not in REASONS[What(what)]:
            self.add_error("reason", _("This reason does not fit the act."))
        return cleaned


class ActForm(FittingForm):
    """What to do about a person, for how long and why."""

    hours = forms.TypedChoiceField(
        label=_("For how long"), choices=DURATIONS, coerce=int, required=False, empty_value=None
    )
    words = words_field(_("To the person"), hint=_("It stands in their letter and in the log."))
    field_order = ("what", "hours", "reason", "words")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, acts=ON_PEOPLE, **kwargs)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if cleaned.get("what") in LASTING and cleaned.get("hours") is None:
            self.add_error("hours", _("Say for how long."))
        return cleaned

    def until(self) -> datetime | None:
        """When a lasting act would end that begins now; None for any other, or as long as nothing is chosen."""
        hours = self.cleaned_data.get("hours")
        if hours is None or self.cleaned_data.get("what") not in LASTING:
            return None
        return FOREVER if hours == 0 else timezone.now() + timedelta(hours=hours)


class RoleForm(forms.Form):
    """Who is to look after the site."""

    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)
    words = words_field(_("To the person"), hint=_("It stands in their letter and in the log."))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "role_%s", **kwargs})


class AtTheTableForm(FittingForm):
    """What to do about a game or a room, and about whom in it."""

    person = forms.TypedChoiceField(label=_("Player"), coerce=int, required=False, empty_value=None)
    words = words_field(
        _("To the person"), hint=_("It stands in the person's letter and in the log. Others there do not read it.")
    )
    field_order = ("what", "person", "reason", "words")

    def __init__(self, *args: Any, people: Sequence[User], acts: Sequence[What], **kwargs: Any) -> None:
        super().__init__(*args, acts=acts, **kwargs)
        what, person = self.fields["what"], self.fields["person"]
        assert isinstance(person, forms.TypedChoiceField)
        if What.END_GAME in acts:
            what.help_text = str(FINAL[What.END_GAME])
        person.choices = [NOTHING_YET, *((one.pk, one.name) for one in people)]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if cleaned.get("what") in self.about_one and not cleaned.get("person"):
            self.add_error("person", _("Say who is meant."))
        return cleaned


class GameActForm(AtTheTableForm):
    """What can be done about a game as it is now."""

    acts = (What.END_GAME, What.REMOVE, What.VOID_GAME, What.WATCH)
    about_one = (What.REMOVE,)

    def __init__(self, *args: Any, game: Game, people: Sequence[User], **kwargs: Any) -> None:
        super().__init__(*args, people=people, acts=[act for act in self.acts if _fits_game(act, game)], **kwargs)


def _fits_game(act: What, game: Game) -> bool:
    if act == What.VOID_GAME:
        return bool(game.ended and game.ranked and not game.voided and game.reason != "void")
    return game.ended is None


class RoomActForm(AtTheTableForm):
    """What can be done about a room as it is now."""

    acts = (What.CLOSE_ROOM, What.REMOVE, What.HAND_OVER)
    about_one = (What.REMOVE, What.HAND_OVER)

    def __init__(self, *args: Any, room: Room, people: Sequence[User], **kwargs: Any) -> None:
        super().__init__(*args, people=people, acts=[] if room.closed else self.acts, **kwargs)


class DecideForm(forms.Form):
    """What came of each report in a case: of the latest ones one by one, of all others at once. It is about those that
    the page showed: `last` is the latest of them."""

    # What is left out here, `rest` fills.
    use_required_attribute = False

    rest = forms.ChoiceField(
        label=_("All others"), choices=VERDICTS, help_text=_("For every report without a verdict of its own.")
    )
    words = words_field(_("For the log"))
    last = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def __init__(self, *args: Any, reports: Sequence[Report], **kwargs: Any) -> None:
        newest = max((report.pk for report in reports), default=0)
        super().__init__(*args, **{"auto_id": "decide_%s", "initial": {"last": newest}, **kwargs})
        last = self._last(newest)
        self._seen = sorted((report for report in reports if report.pk <= last), key=lambda one: one.pk, reverse=True)
        if len(self._seen) < 2:
            del self.fields["rest"]
        else:
            self.fields["rest"].required = len(self._seen) > MOST_VERDICTS
        fills = "rest" in self.fields and (self.fields["rest"].required or (self.is_bound and self["rest"].data))
        for report in self._seen[:MOST_VERDICTS]:
            label = f"{report.reporter.name}: {report.get_reason_display()}"
            self.fields[_name(report)] = forms.ChoiceField(label=label, choices=VERDICTS, required=not fills)
        self.order_fields([*map(_name, self._seen), "rest", "words"])

    def _last(self, newest: int) -> int:
        try:
            return int(self.fields["last"].clean(self["last"].data)) if self.is_bound else newest
        except forms.ValidationError:
            return newest

    def verdicts(self) -> dict[int, Report.Verdict]:
        """By the reports' numbers, once the form is valid."""
        said = self.cleaned_data
        return {report.pk: Report.Verdict(said.get(_name(report)) or said["rest"]) for report in self._seen}


def _name(report: Report) -> str:
    return f"report_{report.pk}"


class HideForm(forms.Form):
    """A reason, words if there are any, and the case that it belongs to."""

    reason = reason_field(REASONS[What.HIDE])
    words = words_field(_("To the person"))
    case = forms.ModelChoiceField(Case.objects.filter(decided=None), required=False, widget=forms.HiddenInput)


class AppealForm(forms.Form):
    words = words_field(_("Why this was not right"), required=True)
