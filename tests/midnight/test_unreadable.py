"""A form that no parser takes is the visitor's mistake, said as 400: no fault of ours, and no traceback."""

import logging

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db

FORM = "application/x-www-form-urlencoded"
UNREADABLE = [
    f"{FORM}; charset=utf-7",
    f"{FORM}; charset=rot13",
    "multipart/form-data",
    "multipart/form-data; boundary=",
    "multipart/form-data; boundary=\xff",
]


@pytest.fixture
def visitor() -> Client:
    """One whose forms are checked for their token, as a browser's are, and who has the cookie for it."""
    client = Client(enforce_csrf_checks=True)
    client.get("/account/sign-in/")
    return client


@pytest.mark.parametrize("content_type", UNREADABLE)
@pytest.mark.parametrize("path", ["/about/", "/account/sign-in/", "/replay/", "/nowhere/", "/admin/login/"])
def test_a_form_that_cannot_be_read_is_a_bad_request(
    visitor: Client, path: str, content_type: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = visitor.generic("POST", path, b"csrfmiddlewaretoken=abc", content_type=content_type)
    assert answer.status_code == 400
    assert b"</html>" in answer.content
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_too_many_fields_are_a_bad_request_anywhere(visitor: Client) -> None:
    for path in ("/account/sign-in/", "/nowhere/"):
        answer = visitor.post(path, "a=1&" * 2_000, content_type=FORM)
        assert answer.status_code == 400, path


def test_a_readable_form_at_no_address_is_not_found(visitor: Client) -> None:
    assert visitor.post("/nowhere/", "a=1", content_type=FORM).status_code in (403, 404)
