"""The headers of every answer: doors that stay shut."""

import pytest
from django.test import Client


@pytest.mark.parametrize("address", ["/", "/display/", "/service-worker.js", "/nothing-here/"])
def test_every_answer_carries_the_policy_and_its_companions(address: str, client: Client) -> None:
    headers = client.get(address).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "font-src": "'self'",
        "media-src": "'self'",
        "manifest-src": "'self'",
        "worker-src": "'self'",
        "connect-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]


def test_no_proxy_keeps_a_page(client: Client) -> None:
    assert client.get("/").headers["Cache-Control"] == "private, no-cache"
