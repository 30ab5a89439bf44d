"""The client's address is what our own proxies saw, never what a client says of itself."""

import pytest
from django.test import RequestFactory
from pytest_django import Settings

from accounts import addresses


@pytest.mark.parametrize(
    ("peer", "header", "proxies", "client"),
    [
        ("10.0.0.1", "", 0, "10.0.0.1"),
        ("10.0.0.1", "6.6.6.6", 0, "10.0.0.1"),  # a lie
        ("10.0.0.1", "1.2.3.4", 1, "1.2.3.4"),
        ("10.0.0.1", "6.6.6.6, 1.2.3.4", 1, "1.2.3.4"),  # a lie before the truth
        ("10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.9", 2, "1.2.3.4"),
        ("10.0.0.1", "1.2.3.4", 2, "10.0.0.1"),  # did not come through both
        ("10.0.0.1", "", 1, "10.0.0.1"),
        ("", "1.2.3.4", 1, "1.2.3.4"),  # a proxy on a unix socket
        ("", "", 0, addresses.UNKNOWN),
        ("10.0.0.1", "nonsense", 1, addresses.UNKNOWN),
        ("10.0.0.1", "1.2.3.4:5678", 1, "1.2.3.4"),
        ("10.0.0.1", "[2001:db8::1]:443", 1, "2001:db8::1"),
        ("2001:DB8:0::1", "", 0, "2001:db8::1"),
        ("::ffff:1.2.3.4", "", 0, "1.2.3.4"),
    ],
)
def test_the_address_is_the_one_that_our_proxies_saw(peer: str, header: str, proxies: int, client: str) -> None:
    assert addresses.client(peer, header, proxies) == client


def test_a_requests_address_is_read_through_as_many_proxies_as_we_trust(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 1
    request = RequestFactory().get("/", headers={"x-forwarded-for": "6.6.6.6, 1.2.3.4"})
    assert addresses.of_request(request) == "1.2.3.4"


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("1.2.3.4", "1.2.3.4"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::"),
        ("2001:db8:1:3::1", "2001:db8:1:3::"),
    ],
)
def test_limits_count_the_network_that_one_household_has(address: str, counted: str) -> None:
    assert addresses.household(address) == counted
