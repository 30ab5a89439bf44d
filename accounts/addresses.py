"""Where a request really comes from.

Whoever connects may write what they like into X-Forwarded-For; only the entries that our own proxies added can be
believed. `TRUSTED_PROXIES` says how many of them stand before us, none by default.
"""

import ipaddress

from django.conf import settings
from django.http import HttpRequest

UNKNOWN = "0.0.0.0"  # noqa: S104  (a name for no address, nothing listens on it)


def client(peer: str, forwarded_for: str, proxies: int) -> str:
    """The client's address, given who connected to us and what the header says.

    The last of our proxies appends whom it saw, and so on: with two, the last entry but one is the client. A header
    shorter than that did not come through all of them, and then whoever connected is all we know.
    """
    entries = [entry.strip() for entry in forwarded_for.split(",")] if forwarded_for else []
    if 0 < proxies <= len(entries):
        return tidy(entries[-proxies])
    return tidy(peer)


def tidy(address: str) -> str:
    """The address in its one spelling, without a port; UNKNOWN where it is none, such as a unix socket's."""
    text = address.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        parsed = ipaddress.ip_address(text)
    except ValueError:
        return UNKNOWN
    mapped = getattr(parsed, "ipv4_mapped", None)
    return str(mapped or parsed)


def of_request(request: HttpRequest) -> str:
    return client(
        request.META.get("REMOTE_ADDR") or "", request.META.get("HTTP_X_FORWARDED_FOR", ""), settings.TRUSTED_PROXIES
    )


def tells_household(address: str) -> bool:
    """Whether an address says where a person is: the machine's own address and an unknown one say nothing."""
    return address != UNKNOWN and not ipaddress.ip_address(address).is_loopback


def household(address: str) -> str:
    """What limits count instead of an address: of IPv6 the whole network, since whoever has one has all of it."""
    if ":" not in address:
        return address
    return str(ipaddress.ip_network(f"{address}/64", strict=False).network_address)
