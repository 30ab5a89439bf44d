"""What no passkey answers is refused like a wrong answer, wherever one is asked for."""

import base64
import json
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from tests.accounts.conftest import signed_in

pytestmark = pytest.mark.django_db
WRONG = "This code is not right, or no longer."


def packed(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


SAID = packed(
    json.dumps({"type": "webauthn.get", "challenge": packed(b"x" * 32), "origin": "http://localhost"}).encode()
)
ANSWER: dict[str, Any] = {
    "clientDataJSON": SAID,
    "authenticatorData": packed(bytes(37)),
    "signature": packed(b"s"),
    "userHandle": packed(b"1"),
}


def credential(**other: Any) -> str:
    """An answer as a browser gives it, but for this."""
    answer = {"id": packed(b"i"), "rawId": packed(b"i"), "type": "public-key", "clientExtensionResults": {}}
    return json.dumps({**answer, "response": ANSWER, **other})


def response(**other: Any) -> str:
    return credential(response={**ANSWER, **other})


CREDENTIALS = {
    "digits without end": "9" * 5_000,
    "lists without end": "[" * 20_000,
    "half a character": '{"a": "\\ud800"}',
    "half a character for an id": '{"id": "\\ud800", "rawId": "\\ud800", "response": {}}',
    "no object": "1",
    "next to nothing": '{"id": 1}',
    "no id": credential(id=None),
    "another id": credential(rawId=1),
    "no response": credential(response=None),
    "a list for a response": credential(response=[]),
    "a number for what extensions say": credential(clientExtensionResults=1),
    "somebody beyond all numbers": response(userHandle=packed(b"9" * 25)),
    "somebody with more digits than Python reads": response(userHandle=packed(b"9" * 5_000)),
    "somebody who is no text": response(userHandle=packed(b"\xff\xff")),
    "lists without end inside": response(clientDataJSON=packed(b"[" * 20_000)),
    "nothing signed": response(authenticatorData=""),
    "something else signed": response(authenticatorData=packed(b"\xff" * 80)),
    "a passkey of nothing": credential(response={"clientDataJSON": SAID, "attestationObject": ""}),
    "a broken passkey": credential(response={"clientDataJSON": SAID, "attestationObject": packed(b"\xa0")}),
    "a passkey without end": credential(
        response={"clientDataJSON": SAID, "attestationObject": packed(b"\x9f" * 3_000)}
    ),
}


@pytest.mark.parametrize("said", CREDENTIALS.values(), ids=CREDENTIALS)
def test_signing_in_by_it_leads_back_to_the_sign_in(client: Client, said: str) -> None:
    client.get("/account/sign-in/passkey/", headers={"accept": "application/json"})
    page = client.post("/account/sign-in/passkey/", {"credential": said}, follow=True)
    assert page.redirect_chain == [("/account/sign-in/", 302)]
    assert WRONG in page.content.decode()


@pytest.mark.parametrize("said", CREDENTIALS.values(), ids=CREDENTIALS)
def test_adding_it_shows_the_form_again_without_it(alice: User, said: str) -> None:
    client = signed_in(alice)
    where = "/account/security/passkeys/add/"
    assert client.get(where).status_code == 200
    page = client.post(where, {"credential": said})
    assert page.status_code == 200
    assert WRONG in page.content.decode()
    assert not alice.authenticator_set.exists()
