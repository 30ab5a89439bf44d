"""How the site looks to the person who asked for a page: theme, motion, patterns, sounds; and how forms are drawn."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from django import forms
from django.conf import settings
from django.dispatch import receiver
from django.forms.boundfield import BoundField
from django.forms.renderers import TemplatesSetting
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import get_language_info
from django.utils.translation import gettext_lazy as _

from accounts import signals
from accounts.models import User

COOKIE = "look"
COOKIE_AGE = 60 * 60 * 24 * 365


@dataclass(frozen=True)
class Look:
    """What `<html>` says of a person's wishes; an account's fields have the same names."""

    theme: str = "system"
    reduced_motion: bool = False
    patterns: bool = False
    sounds: bool = True

    @classmethod
    def of(cls, request: HttpRequest) -> Self:
        """The account's wishes, or those that a visitor's cookie keeps."""
        user = getattr(request, "user", None)
        if user is not None and user.is_authenticated:
            return cls(user.theme, user.reduced_motion, user.patterns, user.sounds)
        return cls.from_cookie(request.COOKIES.get(COOKIE, ""))

    @classmethod
    def from_cookie(cls, text: str) -> Self:
        """Whatever a cookie says that makes sense; the defaults for the rest."""
        words = text.split(".")
        themes = [word for word in words if word in User.Theme.values]
        return cls(
            theme=themes[0] if themes else cls.theme,
            reduced_motion="still" in words,
            patterns="patterns" in words,
            sounds="silent" not in words,
        )

    def to_cookie(self) -> str:
        words = {"still": self.reduced_motion, "patterns": self.patterns, "silent": not self.sounds}
        return ".".join([self.theme, *(word for word, said in words.items() if said)])


@receiver(signals.joined)
def take_along(sender: object, user: User, request: HttpRequest, **kwargs: Any) -> None:
    """Whoever joins keeps what they chose as a visitor."""
    wishes = asdict(Look.from_cookie(request.COOKIES.get(COOKIE, "")))
    for name, value in wishes.items():
        setattr(user, name, value)
    user.save(update_fields=list(wishes))


def own_names() -> list[tuple[str, str]]:
    """Each language as its speakers write it, so that one finds one's own on a page one cannot read."""
    return [(code, get_language_info(code)["name_local"].capitalize()) for code, _name in settings.LANGUAGES]


class DisplayForm(forms.Form):
    """Language and look, for visitors and accounts alike; the fields have the names of an account's."""

    language = forms.ChoiceField(label=_("Language"), choices=own_names)
    theme = forms.ChoiceField(label=_("Theme"), choices=User.Theme.choices, widget=forms.RadioSelect)
    reduced_motion = forms.BooleanField(
        label=_("Less motion"), help_text=_("Nothing slides, turns or fades."), required=False
    )
    patterns = forms.BooleanField(
        label=_("Stronger patterns"), help_text=_("Places differ by pattern as clearly as by colour."), required=False
    )
    sounds = forms.BooleanField(label=_("Sounds"), required=False)

    def keep(self, request: HttpRequest, response: HttpResponse) -> None:
        """With the account of whoever is signed in; with the browser in any case."""
        wishes: dict[str, Any] = self.cleaned_data
        user = request.user
        if user.is_authenticated:
            for name, value in wishes.items():
                setattr(user, name, value)
            user.save(update_fields=list(wishes))
        look = Look(**{field.name: wishes[field.name] for field in fields(Look)})
        for name, value in {COOKIE: look.to_cookie(), settings.LANGUAGE_COOKIE_NAME: wishes["language"]}.items():
            response.set_cookie(
                name,
                value,
                max_age=COOKIE_AGE,
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )


def context(request: HttpRequest) -> dict[str, Any]:
    """For every template: `look`."""
    return {"look": Look.of(request)}


class LabelledField(BoundField):
    """A field whose label is followed by nothing: the layout says what belongs together."""

    def label_tag(
        self,
        contents: str | None = None,
        attrs: dict[str, Any] | None = None,
        label_suffix: str | None = None,
        tag: str | None = None,
    ) -> SafeString:
        return super().label_tag(contents, attrs, label_suffix or "", tag)


class FormRenderer(TemplatesSetting):
    """Draws every form, ours and allauth's, with the templates of `templates/forms/`."""

    form_template_name = "forms/form.html"
    field_template_name = "forms/field.html"
    bound_field_class = LabelledField
