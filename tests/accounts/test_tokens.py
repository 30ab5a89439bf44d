"""A program plays with a token: shown once, listed, revoked, and ended with the sessions of its time."""

import pytest
from django.test import Client

from accounts import export, moderation, sessions, tokens
from accounts.models import FOREVER, ApiToken, EndedSession, User
from tests.accounts.conftest import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
PAGE = "/account/tokens/"


def test_the_secret_is_shown_once_and_kept_nowhere(alice: User) -> None:
    here = signed_in(alice)
    page = here.post(PAGE, {"name": "My bot"}).content.decode()
    secret = page.partition('class="secret">')[2].partition("<")[0]
    assert secret.startswith(tokens.PREFIX)
    token = tokens.holder(secret)
    assert token is not None
    assert token.user == alice
    assert secret not in here.get(PAGE).content.decode()
    assert secret not in str(ApiToken.objects.values_list().get())


def test_the_list_says_what_each_is_for_and_whether_it_is_used(alice: User) -> None:
    here = signed_in(alice)
    token, secret = tokens.make(alice, "My bot")
    assert "never used" in here.get(PAGE).content.decode()
    tokens.holder(secret)
    page = here.get(PAGE).content.decode()
    assert "My bot" in page
    assert "last used on" in page
    assert export.everything(alice)["tokens"][0]["name"] == token.name


def test_a_revoked_token_is_good_for_nothing_and_its_connections_end(alice: User) -> None:
    here = signed_in(alice)
    token, secret = tokens.make(alice, "My bot")
    assert here.post(f"{PAGE}{token.pk}/revoke/")["Location"] == PAGE
    assert tokens.holder(secret) is None
    end = EndedSession.objects.get()
    assert end.ends(token.session_key, 0)
    assert not end.ends(here.session.session_key, 0)


def test_nobody_sees_or_revokes_the_token_of_another(alice: User, bob: User) -> None:
    token, secret = tokens.make(bob, "Bob's own bot")
    mine = signed_in(alice)
    assert "own bot" not in mine.get(PAGE).content.decode()
    assert mine.post(f"{PAGE}{token.pk}/revoke/").status_code == 404
    assert tokens.holder(secret) is not None


def test_a_guest_is_asked_to_become_somebody_first() -> None:
    guest = Client()
    guest.post("/account/guest/")
    assert guest.get(PAGE)["Location"] == "/account/claim/"


def test_signing_out_everywhere_ends_all_tokens(alice: User) -> None:
    _, secret = tokens.make(alice, "My bot")
    sessions.end_all(alice, EndedSession.Reason.SIGNED_OUT)
    assert tokens.holder(secret) is None
    tokens.forget_ended()
    assert not ApiToken.objects.exists()


def test_a_token_of_somebody_who_is_shut_out_is_good_for_nothing(alice: User) -> None:
    _, secret = tokens.make(alice, "My bot")
    moderation.suspend(alice, FOREVER, by="test")
    alice.refresh_from_db()
    assert tokens.holder(secret) is None
    _, newer = tokens.make(alice, "Another")
    assert tokens.holder(newer) is None


def test_staff_without_a_second_factor_cannot_play_by_token_either(admin: User) -> None:
    _, secret = tokens.make(admin, "My bot")
    assert tokens.holder(secret) is None


def test_there_are_at_most_ten(alice: User) -> None:
    here = signed_in(alice)
    for number in range(tokens.MOST):
        tokens.make(alice, f"Bot {number}")
    assert "Please revoke one first" in here.post(PAGE, {"name": "One more"}).content.decode()
    assert ApiToken.objects.count() == tokens.MOST


def test_an_unknown_secret_is_nobody(alice: User) -> None:
    assert tokens.holder("midnight_guess") is None
    assert tokens.holder("") is None
