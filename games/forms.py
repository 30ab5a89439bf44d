"""What people fill in around games."""

from math import ceil
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from games import names, rooms
from games.bots.strengths import STRENGTHS, Strength
from games.lobby import MOST_BOTS
from games.models import Game, Room
from games.ranked import Newcomer
from games.rules import terms
from games.rules.edition import Edition, load_edition


class BotsForm(forms.Form):
    """Against how many bots, and how good they are; whoever says nothing gets two apprentices."""

    bots = forms.ChoiceField(
        label=_("Opponents"),
        choices=[(number, str(number)) for number in range(1, MOST_BOTS + 1)],
        required=False,
        initial=2,
        widget=forms.RadioSelect,
    )
    strength = forms.ChoiceField(
        label=_("How good they are"),
        choices=lambda: [(strength, names.STRENGTHS[strength]) for strength in STRENGTHS],
        required=False,
        initial="apprentice",
        widget=forms.RadioSelect,
    )

    def clean_bots(self) -> int:
        return int(self.cleaned_data["bots"] or 2)

    def clean_strength(self) -> Strength:
        said = self.cleaned_data["strength"]
        return next((one for one in STRENGTHS if one == said), "apprentice")


# The limits of a room (R8.9), in the unit that people say them in.
_SECOND, _MINUTE = 1_000, 60_000
_LIVE = {
    "search_ms": _SECOND,
    "turn_ms": _SECOND,
    "ready_ms": _SECOND,
    "hand_ms": _SECOND,
    "hold_ms": 1,
    "countdown_ms": _SECOND,
}
UNITS: dict[str, dict[str, int]] = {"live": _LIVE, "relaxed": _LIVE | {"turn_ms": _MINUTE, "ready_ms": _MINUTE}}


def _faces() -> list[tuple[str, object]]:
    market = load_edition(terms.RANKED_EDITION).market
    return [("", _("Drawn")), *((face, names.market_in_words(market[face])) for face in sorted(market))]


class OpenChoices(forms.RadioSelect):
    """Radio buttons of which some cannot be chosen now."""

    shut: frozenset[str] = frozenset()

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **kwargs)
        if str(value) in self.shut:
            option["attrs"]["disabled"] = True
        return option


class RoomForm(forms.Form):
    """What is played in a new room: as usual, unless somebody says otherwise."""

    size = forms.TypedChoiceField(
        label=_("Players"),
        coerce=int,
        choices=[(number, str(number)) for number in terms.PLAYERS],
        initial=2,
        widget=forms.RadioSelect,
    )
    pace = forms.ChoiceField(
        label=_("Pace"),
        choices=[("live", _("Live")), ("relaxed", _("Relaxed: a day for each turn"))],
        initial="live",
        widget=forms.RadioSelect,
    )
    ranked = forms.TypedChoiceField(
        label=_("Kind of game"),
        coerce=lambda said: said == "yes",
        choices=[("no", _("Casual")), ("yes", _("Ranked"))],
        initial="no",
        widget=OpenChoices,
    )
    public = forms.TypedChoiceField(
        label=_("Who may come"),
        coerce=lambda said: said == "yes",
        choices=[("yes", _("Everybody")), ("no", _("Whoever has the link"))],
        initial="yes",
        widget=forms.RadioSelect,
    )
    rulebook = forms.ChoiceField(label=_("Rulebook"), choices=lambda: list(names.RULEBOOKS.items()), initial="fr")
    bots = forms.TypedChoiceField(
        label=_("Bots in free seats"),
        coerce=int,
        choices=[(number, str(number)) for number in range(MOST_BOTS + 1)],
        required=False,
    )
    strength = forms.ChoiceField(
        label=_("How good they are"),
        choices=lambda: [(strength, names.STRENGTHS[strength]) for strength in STRENGTHS],
        required=False,
    )
    market_1 = forms.ChoiceField(label=_("First market"), choices=_faces, required=False)
    market_2 = forms.ChoiceField(label=_("Second market"), choices=_faces, required=False)
    market_3 = forms.ChoiceField(label=_("Third market"), choices=_faces, required=False)
    market_4 = forms.ChoiceField(label=_("Fourth market"), choices=_faces, required=False)
    search_ms = forms.IntegerField(label=_("Search, seconds"), required=False, min_value=1)
    turn_ms = forms.IntegerField(label=_("Turn, seconds (relaxed: minutes)"), required=False, min_value=1)
    ready_ms = forms.IntegerField(label=_("Getting ready, seconds (relaxed: minutes)"), required=False, min_value=1)
    hand_ms = forms.IntegerField(label=_("Tile in hand, seconds"), required=False, min_value=1)
    hold_ms = forms.IntegerField(label=_("Turning a tile over, milliseconds"), required=False, min_value=0)
    countdown_ms = forms.IntegerField(label=_("Countdown, seconds"), required=False, min_value=1)

    def __init__(self, *args: Any, newcomer: Newcomer | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.newcomer = newcomer
        self._show_usual_limits(*terms.PACES)
        if newcomer is not None:
            self._shut_ranked(newcomer)

    @property
    def edition(self) -> Edition:
        """The edition whose market faces can be chosen."""
        return load_edition(terms.RANKED_EDITION)

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        if self.errors:
            return said
        said["bots"] = self._chosen_bots(said)
        said["faces"] = self._chosen_faces(said)
        said["limits"] = self._chosen_limits(said, self._pace(said))
        if said["ranked"] and (said["faces"] or said["limits"]):
            raise forms.ValidationError(
                _("A ranked game has drawn markets and the usual limits."), code="ranked_as_usual"
            )
        return said

    def chosen(self) -> dict[str, Any]:
        """What was said, as `rooms.open_room` takes it."""
        said = ("size", "rulebook", "pace", "ranked", "public", "faces", "limits", "bots")
        return {name: self.cleaned_data[name] for name in said}

    def _shut_ranked(self, newcomer: Newcomer) -> None:
        field = self.fields["ranked"]
        field.help_text = _("Ranked games open after %(needed)s casual ones: you have %(played)s.") % {
            "needed": newcomer.needed,
            "played": newcomer.played,
        }
        if isinstance(field.widget, OpenChoices):
            field.widget.shut = frozenset({"yes"})

    def _show_usual_limits(self, *paces: terms.Pace) -> None:
        for name in UNITS[paces[0]]:
            usual = [terms.DEFAULT_LIMITS[pace].as_json()[name] // UNITS[pace][name] for pace in paces]
            self.fields[name].widget.attrs["placeholder"] = " / ".join(map(str, dict.fromkeys(usual)))

    def _pace(self, said: dict[str, Any]) -> str:
        return str(said["pace"])

    def _chosen_bots(self, said: dict[str, Any]) -> list[str]:
        number = said.get("bots") or 0
        if number and said["ranked"]:
            self.add_error("bots", forms.ValidationError(str(rooms.REFUSALS["people_only"]), code="people_only"))
        if number >= said["size"]:
            self.add_error("bots", forms.ValidationError(_("That is more bots than free seats."), code="too_many_bots"))
        return [said.get("strength") or STRENGTHS[0]] * number

    def _chosen_faces(self, said: dict[str, Any]) -> list[str]:
        faces = [said[f"market_{number}"] for number in range(1, said["size"] + 1)]
        if not any(faces):
            return []
        if not all(faces):
            raise forms.ValidationError(_("Choose a market for each player, or none."), code="faces_missing")
        if len({face[0] for face in faces}) < len(faces):
            raise forms.ValidationError(_("Each market board lies on one of its two faces."), code="board_twice")
        return faces

    def _chosen_limits(self, said: dict[str, Any], pace: str) -> terms.Limits | None:
        speed: terms.Pace = "relaxed" if pace == Game.Pace.RELAXED else "live"
        usual = terms.DEFAULT_LIMITS[speed]
        wanted = {name: said[name] * unit for name, unit in UNITS[pace].items() if said.get(name) is not None}
        for name, value in wanted.items():
            (least, most), unit = terms.settable(name, speed), UNITS[pace][name]
            if not least <= value <= most:
                said_so = _("Between %(least)s and %(most)s.") % {"least": ceil(least / unit), "most": most // unit}
                self.add_error(name, forms.ValidationError(said_so, code="limit_range"))
        if self.errors:
            return None
        limits = terms.Limits(**(usual.as_json() | wanted))
        return None if limits == usual else limits


class SettingsForm(RoomForm):
    """The same for a room that is open; the pace stays, and bots have their seats."""

    pace = None  # type: ignore[assignment]  # Django's way to leave a field out
    bots = None  # type: ignore[assignment]
    strength = None  # type: ignore[assignment]

    def __init__(self, *args: Any, of_pace: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.of_pace = of_pace
        relaxed = of_pace == Game.Pace.RELAXED
        self._show_usual_limits("relaxed" if relaxed else "live")
        self.fields["turn_ms"].label = _("Turn, minutes") if relaxed else _("Turn, seconds")
        self.fields["ready_ms"].label = _("Getting ready, minutes") if relaxed else _("Getting ready, seconds")

    @classmethod
    def of(cls, room: Room, newcomer: Newcomer | None = None) -> "SettingsForm":
        """Filled in as a room is."""
        limits = {name: room.limits[name] // unit for name, unit in UNITS[room.pace].items()} if room.limits else {}
        markets = {f"market_{number}": face for number, face in enumerate(room.faces, 1)}
        yes = {True: "yes", False: "no"}
        kept = {"size": room.size, "rulebook": room.rulebook, "ranked": yes[room.ranked], "public": yes[room.public]}
        return cls(initial=kept | markets | limits, of_pace=room.pace, newcomer=newcomer)

    def chosen(self) -> dict[str, Any]:
        """What was said, as `rooms.change` takes it."""
        return {name: self.cleaned_data[name] for name in ("size", "rulebook", "ranked", "public", "faces", "limits")}

    def _pace(self, said: dict[str, Any]) -> str:
        return self.of_pace
