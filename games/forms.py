"""What people fill in around games."""

from django import forms
from django.utils.translation import gettext_lazy as _

from games import names
from games.bots.strengths import STRENGTHS, Strength
from games.lobby import MOST_BOTS


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
