"""The doors to the house: signing up, coming in as a guest, keeping a guest's games under a name."""

from allauth.account.internal.flows.email_verification import send_verification_email_for_user
from allauth.account.utils import complete_signup, get_login_redirect_url, get_next_redirect_url, perform_login
from allauth.account.views import LoginView, PasswordResetView
from allauth.decorators import rate_limit
from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import get_language, gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts import attempts, guests, signals, signing
from accounts.buttons import button_of
from accounts.forms import SignUpForm
from accounts.models import User


@sensitive_post_parameters("password")
@never_cache
@rate_limit(action="signup")
def sign_up(request: HttpRequest) -> HttpResponse:
    if not isinstance(request.user, AnonymousUser):
        return redirect("accounts:claim" if request.user.is_guest else get_login_redirect_url(request))
    form = SignUpForm(request.POST or None)
    if form.is_valid():
        data = form.cleaned_data
        try:
            user = signing.sign_up(data["name"], data["password"], mail=data["mail"], language=get_language() or "")
        except ValidationError as refused:
            form.add_error("name", refused)
        else:
            signals.joined.send(User, user=user, request=request)
            response: HttpResponse = complete_signup(request, user, None, get_next_redirect_url(request))
            messages.success(request, gettext("Welcome, %(name)s.") % {"name": user.name})
            return response
    return render(request, "accounts/sign_up.html", {"form": form, "next": get_next_redirect_url(request)})


class AskForResetView(PasswordResetView):
    """Rate limit letters by household, for all addresses together, so that a stranger cannot use up the owner's."""

    def form_valid(self, form: forms.Form) -> HttpResponse:
        if attempts.of_reset(self.request, form.cleaned_data["email"]).refused_by is not None:
            return attempts.too_often(self.request, attempts.HOUR)
        response: HttpResponse = super().form_valid(form)
        return response


class SignInView(LoginView):
    """A guest who has an account elsewhere is asked first, since leaving means that the guest is gone."""

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not isinstance(request.user, AnonymousUser) and request.user.is_guest:
            return render(request, "accounts/leave_guest.html")
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return response


@button_of("account_signup")
@rate_limit(action="guest")
def come_as_guest(request: HttpRequest) -> HttpResponse:
    if not isinstance(request.user, AnonymousUser):
        return redirect(get_login_redirect_url(request))
    guest = User.objects.create_guest(language=get_language() or "")
    signals.joined.send(User, user=guest, request=request)
    response: HttpResponse = perform_login(request, guest, redirect_url=get_next_redirect_url(request))
    return response


@sensitive_post_parameters("password")
@never_cache
@login_required
@rate_limit(action="signup")
def claim(request: HttpRequest) -> HttpResponse:
    """A guest becomes a named account: same row, same session, same sockets."""
    guest = request.user
    assert isinstance(guest, User)
    if not guest.is_guest:
        return redirect("accounts:settings")
    form = SignUpForm(request.POST or None)
    if form.is_valid():
        data = form.cleaned_data
        try:
            guests.claim(guest, data["name"], data["password"], mail=data["mail"], request=request)
        except guests.NoGuest:
            return redirect("accounts:settings")
        except ValidationError as refused:
            form.add_error("name", refused)
        else:
            send_verification_email_for_user(request, guest)
            messages.success(request, gettext("Welcome, %(name)s. Your games are yours.") % {"name": guest.name})
            return redirect(get_next_redirect_url(request) or "accounts:settings")
    return render(request, "accounts/claim.html", {"form": form, "next": get_next_redirect_url(request)})


@require_safe
@never_cache
def suspended(request: HttpRequest) -> HttpResponse:
    """Until when; for somebody who has just proved who they are."""
    person = signing.suspended_person(request)
    if person is None:
        return redirect("account_login")
    return render(request, "accounts/suspended.html", {"until": person.suspended_until})
