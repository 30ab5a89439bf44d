"""A person's own pages: their name, their sessions, their data, and leaving. How the site looks is `display`."""

import json

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from allauth.account.models import EmailAddress
from allauth.decorators import rate_limit
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.internal.auth import begin_registration
from allauth.mfa.webauthn.views import AddWebAuthnView, EditWebAuthnView, RemoveWebAuthnView
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from accounts import browsers, closing, export, names, sessions, tokens
from accounts.buttons import button_of
from accounts.forms import DeleteForm, NameForm, TokenForm
from accounts.models import EndedSession, Trace, User


def me(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def first_sentence(refused: ValidationError) -> str:
    return " ".join(refused.messages)


@login_required
def settings(request: HttpRequest) -> HttpResponse:
    """The way to everything about oneself, each with how it stands."""
    user = me(request)
    factors = Authenticator.objects.filter(user=user)
    context = {
        "mail": EmailAddress.objects.filter(user=user).order_by("-verified", "pk").first(),
        "passkeys": factors.filter(type=Authenticator.Type.WEBAUTHN).count(),
        "has_app": factors.filter(type=Authenticator.Type.TOTP).exists(),
        "session_count": len(sessions.listed(user)),
    }
    return render(request, "accounts/settings.html", context)


@button_of("accounts:settings")
@login_required
def choose_turn_mail(request: HttpRequest) -> HttpResponse:
    """Turn mail about relaxed games on or off, for all of them; `on` is "yes" or "no"."""
    user = me(request)
    user.turn_mail = request.POST.get("on") != "no"
    user.save(update_fields=["turn_mail"])
    messages.success(request, gettext("Saved."))
    return redirect("accounts:settings")


@login_required
@rate_limit(action="change_name")
def name(request: HttpRequest) -> HttpResponse:
    user = me(request)
    if user.is_guest:
        return redirect("accounts:claim")
    form = NameForm(user, request.POST or None)
    if form.is_valid():
        try:
            names.change(user, form.cleaned_data["name"])
        except ValidationError as refused:
            form.add_error("name", refused)
        else:
            messages.success(request, gettext("From now on you are %(name)s.") % {"name": form.cleaned_data["name"]})
            return redirect("accounts:name")
    return render(request, "accounts/name.html", {"form": form, "again_at": names.may_change_at(user)})


# Tokens ---------------------------------------------------------------------------------------------------------------


@login_required
@reauthentication_required(allow_get=True)
def token_list(request: HttpRequest) -> HttpResponse:
    """What this person's programs play with; a new one's secret is on the page that made it, and nowhere again."""
    user = me(request)
    form, secret = TokenForm(request.POST or None), ""
    if form.is_valid():
        try:
            _, secret = tokens.make(user, form.cleaned_data["name"])
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            form = TokenForm()
    context = {"form": form, "secret": secret, "tokens": tokens.listed(user)}
    return render(request, "accounts/tokens.html", context)


@login_required
@button_of("accounts:tokens")
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    if not tokens.revoke(me(request), pk):
        raise Http404
    messages.success(request, gettext("The token is revoked. Whatever was connected by it is not any more."))
    return redirect("accounts:tokens")


# Sessions -------------------------------------------------------------------------------------------------------------


@login_required
def session_list(request: HttpRequest) -> HttpResponse:
    rows = [
        {"session": session, "browser": browsers.describe(session.user_agent), "here": session.is_current()}
        for session in sessions.listed(me(request))
    ]
    history = Trace.objects.filter(user=me(request)).order_by("-at", "-pk")[:20]
    return render(request, "accounts/sessions.html", {"rows": rows, "history": history})


@button_of("accounts:sessions")
@login_required
def end_session(request: HttpRequest, pk: int) -> HttpResponse:
    session = get_object_or_404(UserSession, pk=pk, user=me(request))
    if session.is_current():
        get_adapter().logout(request)
        return redirect("games:home")
    sessions.end_one(me(request), session.session_key)
    messages.success(request, gettext("That session has ended."))
    return redirect("accounts:sessions")


@button_of("accounts:sessions")
@login_required
def end_sessions(request: HttpRequest) -> HttpResponse:
    """Sign out everywhere: everywhere else, or here too."""
    user = me(request)
    here_too = "here_too" in request.POST
    sessions.end_all(user, EndedSession.Reason.SIGNED_OUT, keep=None if here_too else request)
    Trace.objects.create(user=user, what=Trace.What.SIGNED_OUT)
    if here_too:
        get_adapter().logout(request)
        messages.success(request, gettext("You are signed out everywhere."))
        return redirect("account_login")
    messages.success(request, gettext("You are signed out everywhere else."))
    return redirect("accounts:sessions")


# One's data, and leaving ----------------------------------------------------------------------------------------------


@login_required
def data(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/data.html", {"delete_form": DeleteForm(me(request)), "grace": closing.GRACE.days})


@button_of("accounts:data")
@login_required
def be_indexed(request: HttpRequest) -> HttpResponse:
    """Say whether search engines may show the games one has played; `indexed` is "yes" or "no"."""
    user = me(request)
    user.indexed = request.POST.get("indexed") != "no"
    user.save(update_fields=["indexed"])
    messages.success(request, gettext("Saved."))
    return redirect("accounts:data")


@button_of("accounts:data")
@login_required
@reauthentication_required(app="accounts")
@rate_limit(action="export")
def download(request: HttpRequest) -> HttpResponse:
    user = me(request)
    Trace.objects.create(user=user, what=Trace.What.EXPORTED)
    document = json.dumps(export.everything(user), ensure_ascii=False, indent=1)
    response = HttpResponse(document, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="midnight-{timezone.localdate().isoformat()}.json"'
    return response


@require_safe
@login_required
def ask_to_close(request: HttpRequest) -> HttpResponse:
    """What closing means, and the button that does it."""
    return render(request, "accounts/close.html", {"grace": closing.GRACE.days})


@button_of("accounts:ask_to_close")
@login_required
@reauthentication_required(app="accounts")
def close(request: HttpRequest) -> HttpResponse:
    user = me(request)
    try:
        closing.close(user)
    except ValidationError as refused:
        messages.error(request, first_sentence(refused))
        return redirect("accounts:data")
    get_adapter().logout(request)
    messages.success(
        request,
        gettext("Your account is closed. Signing in within %(days)d days opens it again.")
        % {"days": closing.GRACE.days},
    )
    return redirect("games:home")


@button_of("accounts:data")
@login_required
@reauthentication_required(app="accounts")
def delete(request: HttpRequest) -> HttpResponse:
    user = me(request)
    form = DeleteForm(user, request.POST)
    if form.is_valid():
        try:
            closing.delete(user)
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            get_adapter().logout(request)
            messages.success(request, gettext("Your account is deleted. Farewell."))
            return redirect("games:home")
    context = {"delete_form": form, "grace": closing.GRACE.days}
    return render(request, "accounts/data.html", context)


# Passkeys -------------------------------------------------------------------------------------------------------------


class AddPasskeyView(AddWebAuthnView):
    template_name = "accounts/add_passkey.html"

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        context: dict[str, object] = super().get_context_data(**kwargs)
        context["options"] = begin_registration(self.request.user, passwordless=True)
        return context


class RemovePasskeyView(RemoveWebAuthnView):
    template_name = "accounts/remove_passkey.html"
    success_url = reverse_lazy("mfa_index")


class RenamePasskeyView(EditWebAuthnView):
    template_name = "accounts/rename_passkey.html"
    success_url = reverse_lazy("mfa_index")
