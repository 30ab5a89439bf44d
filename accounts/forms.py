"""What people fill in. Labels, hints and autofill words; the rules are in the modules that the views call."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allauth.account import forms as allauth_forms
from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base import forms as factor_forms
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    EditWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from accounts import attempts, looks, resets, used_codes
from accounts.adapters import AccountAdapter, refuse_too_many
from accounts.models import TakenName, User

LONGEST_PASSWORD = 128
LONGEST_MAIL = 254
PASSWORD_HINT = _("At least 10 characters. Three words in a row are easy to keep and hard to guess.")


def password_field(label: Any, *, new: bool, hint: Any = "") -> forms.CharField:
    autocomplete = "new-password" if new else "current-password"
    return forms.CharField(
        label=label,
        help_text=hint,
        strip=False,
        max_length=LONGEST_PASSWORD,
        widget=forms.PasswordInput(attrs={"autocomplete": autocomplete, "data-may-show": True}),
    )


class MailField(forms.EmailField):
    """A mail address in small letters, as addresses are kept; they count for its length, some being longer."""

    def to_python(self, value: Any) -> Any:
        return str(super().to_python(value)).lower()


def mail_field(label: Any, *, required: bool, hint: Any = "") -> MailField:
    return MailField(
        label=label,
        help_text=hint,
        required=required,
        max_length=LONGEST_MAIL,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


def code_field(label: Any, hint: Any = "") -> forms.CharField:
    return forms.CharField(
        label=label,
        help_text=hint,
        max_length=20,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric", "class": "code"}),
    )


class NameField(forms.CharField):
    """A name that is allowed and free; `holder` may take their own looks again."""

    holder: User | None = None

    def __init__(self, **options: Any) -> None:
        attrs = {"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}
        super().__init__(
            max_length=looks.LONGEST,
            widget=forms.TextInput(attrs=attrs),
            help_text=_("What the others see: 2 to 20 letters and digits."),
            **options,
        )

    def clean(self, value: Any) -> str:
        name = looks.check(super().clean(value))
        TakenName.objects.refuse_taken(name, to=self.holder)
        return name


class SignUpForm(forms.Form):
    """One short form; a guest fills in the same to keep what they have."""

    name = NameField(label=_("Name"))
    password = password_field(_("Password"), new=True, hint=PASSWORD_HINT)
    mail = mail_field(
        _("Mail address"), required=False, hint=_("For a forgotten password and nothing else, unless you ask for more.")
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "password" in cleaned:
            try:
                validate_password(cleaned["password"], User(name=cleaned.get("name", "")))
            except ValidationError as refused:
                self.add_error("password", refused)
        return cleaned


class SignInForm(allauth_forms.LoginForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        attrs = {"autocomplete": "username webauthn", "autocapitalize": "none", "spellcheck": "false"}
        self.fields["login"] = forms.CharField(
            label=_("Name or mail address"), max_length=LONGEST_MAIL, widget=forms.TextInput(attrs=attrs)
        )
        self.fields["password"] = password_field(_("Password"), new=False)

    def user_credentials(self) -> dict[str, str]:
        return {"username": self.cleaned_data["login"], "password": self.cleaned_data["password"]}


class ChangePasswordForm(allauth_forms.ChangePasswordForm):
    """Once is enough: what one has typed can be shown."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["oldpassword"] = password_field(_("Present password"), new=False)
        self.fields["password1"] = password_field(_("New password"), new=True, hint=PASSWORD_HINT)
        del self.fields["password2"]

    def clean_password1(self) -> str:
        validate_password(self.cleaned_data["password1"], self.user)
        if self.user.check_password(self.cleaned_data["password1"]):
            raise ValidationError(_("This is the password you have already."), code="password_same")
        return str(self.cleaned_data["password1"])


class AskForResetForm(allauth_forms.ResetPasswordForm):
    """Takes an address and asks a worker; whether it is known is not even looked up here."""

    email = mail_field(_("Mail address"), required=True)

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"])

    def save(self, request: Any, **kwargs: Any) -> str:
        resets.ask(self.cleaned_data["email"])
        return str(self.cleaned_data["email"])


class ResetPasswordForm(allauth_forms.ResetPasswordKeyForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password1"] = password_field(_("New password"), new=True, hint=PASSWORD_HINT)
        del self.fields["password2"]

    def clean_password1(self) -> str:
        validate_password(self.cleaned_data["password1"], self.user)
        return str(self.cleaned_data["password1"])


class MailForm(allauth_forms.AddEmailForm):
    email = mail_field(_("New mail address"), required=True)


class ReauthenticateForm(allauth_forms.ReauthenticateForm):
    password = password_field(_("Password"), new=False)


class CountedCode:
    """A code whose tries are counted: by account and household, a known device apart."""

    user: User

    def clean_code(self) -> str:
        attempt = attempts.of_code(context.request, self.user)
        refuse_too_many(AccountAdapter(context.request), attempt)
        code: str = super().clean_code()  # type: ignore[misc]  # the form's own, which this goes before
        attempt.give_back()
        return code


class TakenOnce(forms.Form):
    """A form that accepts each code of an app once, also after the cache was lost."""

    authenticator: Authenticator

    def clean_code(self) -> str:
        code: str = super().clean_code()  # type: ignore[misc]
        if self.authenticator.type == Authenticator.Type.TOTP and not used_codes.take(self.authenticator, code):
            raise get_adapter().validation_error("incorrect_code")
        return code


class CodeForm(CountedCode, TakenOnce, factor_forms.AuthenticateForm):
    code = code_field(_("Code"), _("From your app, or one of your recovery codes."))


class CodeAgainForm(CountedCode, TakenOnce, factor_forms.ReauthenticateForm):
    code = code_field(_("Code"), _("From your app, or one of your recovery codes."))


class ActivateAppForm(ActivateTOTPForm):
    code = code_field(_("Code from the app"), _("Six digits; a new one comes every half minute."))


# What reading a passkey's answer fails with, if it is one that no browser gives.
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


@contextmanager
def refusing_the_unreadable() -> Iterator[None]:
    """An answer that cannot be read is refused like a wrong one."""
    try:
        yield
    except UNREADABLE:
        raise get_adapter().validation_error("incorrect_code") from None


class CredentialField(forms.JSONField):
    """What a passkey answers. It is good for once, so its form never shows it again."""

    widget = forms.HiddenInput

    def to_python(self, value: Any) -> Any:
        with refusing_the_unreadable():
            return super().to_python(value)

    def bound_data(self, data: Any, initial: Any) -> Any:
        return initial


class PasskeyForm(AuthenticateWebAuthnForm):
    """A passkey's answer to who one is."""

    credential = CredentialField()

    def clean_credential(self) -> Authenticator:
        with refusing_the_unreadable():
            return super().clean_credential()


class SignInByPasskeyForm(PasskeyForm, LoginWebAuthnForm):
    pass


class PasskeyAgainForm(PasskeyForm, ReauthenticateWebAuthnForm):
    pass


class AddPasskeyForm(AddWebAuthnForm):
    """A passkey is made for signing in by it alone, so whoever holds it must have shown who they are."""

    credential = CredentialField()
    name = forms.CharField(label=_("Name of this passkey"), required=False, max_length=40)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["passwordless"]

    def clean(self) -> dict[str, Any]:
        self.cleaned_data["passwordless"] = True
        with refusing_the_unreadable():
            cleaned: dict[str, Any] = super().clean()
        return cleaned


class RenamePasskeyForm(EditWebAuthnForm):
    name = forms.CharField(label=_("Name of this passkey"), max_length=40)


class NameForm(forms.Form):
    name = NameField(label=_("New name"))

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["name"]
        assert isinstance(field, NameField)
        field.holder = user


class DeleteForm(forms.Form):
    """Deleting is for good, so it takes more than a slip of the finger."""

    name = forms.CharField(label=_("Your name, to be sure"), widget=forms.TextInput(attrs={"autocomplete": "off"}))

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_name(self) -> str:
        if looks.fold(self.cleaned_data["name"]) != self.user.folded_name:
            raise ValidationError(_("That is not your name. Nothing was deleted."), code="name_differs")
        return str(self.cleaned_data["name"])


class TokenForm(forms.Form):
    """A new token for a program of one's own."""

    name = forms.CharField(
        label=_("What it is for"),
        max_length=40,
        help_text=_("For you alone, so that you know later which one to revoke."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
