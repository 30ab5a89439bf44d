"""Addresses of people's pages: those that allauth knows by its own names, and `accounts:` for ours."""

from collections.abc import Callable
from functools import wraps

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as app
from allauth.mfa.webauthn import views as passkey
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import include, path, re_path
from django.views.decorators.cache import never_cache
from django.views.generic import RedirectView

from accounts import attempts, entrance, views
from accounts.models import User

View = Callable[..., HttpResponseBase]


def named(view: View) -> View:
    """For accounts that can be signed in to. A guest is shown how to become one."""

    @login_required
    @wraps(view)
    def only_named(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if isinstance(request.user, User) and request.user.is_guest:
            return redirect("accounts:claim")
        return view(request, *args, **kwargs)

    return only_named


own = [
    path("", views.settings, name="settings"),
    path("guest/", entrance.come_as_guest, name="guest"),
    path("claim/", entrance.claim, name="claim"),
    path("suspended/", entrance.suspended, name="suspended"),
    path("turn-mail/", views.choose_turn_mail, name="turn_mail"),
    path("name/", views.name, name="name"),
    path("sessions/", views.session_list, name="sessions"),
    path("sessions/<int:pk>/end/", views.end_session, name="end_session"),
    path("sessions/end/", views.end_sessions, name="end_sessions"),
    path("tokens/", named(views.token_list), name="tokens"),
    path("tokens/<int:pk>/revoke/", named(views.revoke_token), name="revoke_token"),
    path("data/", views.data, name="data"),
    path("data/export/", views.download, name="export"),
    path("data/search-engines/", views.be_indexed, name="indexed"),
    path("data/closing/", named(views.ask_to_close), name="ask_to_close"),
    path("data/close/", named(views.close), name="close"),
    path("data/delete/", views.delete, name="delete"),
]

entrances = [
    path("sign-up/", entrance.sign_up, name="account_signup"),
    path("sign-in/", attempts.limited("sign-in")(entrance.SignInView.as_view()), name="account_login"),
    # What a device is asked is kept in a session, which a visitor has only by this: asking is limited too.
    path(
        "sign-in/passkey/",
        attempts.limited("passkey", ("GET", "POST"))(passkey.login_webauthn),
        name="mfa_login_webauthn",
    ),
    path("sign-in/code/", mfa.authenticate, name="mfa_authenticate"),
    path("sign-out/", account.logout, name="account_logout"),
    path("again/", account.reauthenticate, name="account_reauthenticate"),
    path("again/code/", mfa.reauthenticate, name="mfa_reauthenticate"),
    path("again/passkey/", passkey.reauthenticate_webauthn, name="mfa_reauthenticate_webauthn"),
]

keys = [
    path("mail/", named(account.email), name="account_email"),
    re_path(r"^mail/confirm/(?P<key>[-:\w]+)/$", account.confirm_email, name="account_confirm_email"),
    path("password/", named(account.password_change), name="account_change_password"),
    # Who never had one, such as somebody made by a program.
    path("password/none/", RedirectView.as_view(pattern_name="account_reset_password"), name="account_set_password"),
    path("password/forgotten/", entrance.AskForResetView.as_view(), name="account_reset_password"),
    path("password/forgotten/asked/", account.password_reset_done, name="account_reset_password_done"),
    re_path(
        r"^password/new/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        account.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path("password/new/", account.password_reset_from_key_done, name="account_reset_password_from_key_done"),
    path("security/", named(mfa.index), name="mfa_index"),
    path("security/app/", named(app.activate_totp), name="mfa_activate_totp"),
    path("security/app/remove/", named(app.deactivate_totp), name="mfa_deactivate_totp"),
    path("security/codes/", named(codes.view_recovery_codes), name="mfa_view_recovery_codes"),
    path("security/codes/new/", named(codes.generate_recovery_codes), name="mfa_generate_recovery_codes"),
    path("security/codes/file/", named(codes.download_recovery_codes), name="mfa_download_recovery_codes"),
    path("security/passkeys/add/", named(views.AddPasskeyView.as_view()), name="mfa_add_webauthn"),
    path("security/passkeys/<int:pk>/", named(views.RenamePasskeyView.as_view()), name="mfa_edit_webauthn"),
    path("security/passkeys/<int:pk>/remove/", named(views.RemovePasskeyView.as_view()), name="mfa_remove_webauthn"),
]

for page in (*own, *entrances, *keys):
    # Whoever has signed out leaves nothing of it to the next one who presses "back".
    page.callback = never_cache(page.callback)

urlpatterns = [path("", include((own, "accounts"))), *entrances, *keys]
