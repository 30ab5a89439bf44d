"""The hosts of a site in one machine, and the lines between them that may be cut.

As network namespaces where this process may make them: there packets are dropped, and a host vanishes as a real one
does, until the kernels of the others give its lines up. Else by a TCP proxy on each line, which can be mute.
"""

import asyncio
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterable
from itertools import combinations
from typing import Protocol

from tests.faults.proxy import Address, Proxy

# The test itself: it looks after all hosts, and players come from there.
OUTSIDE = "outside"


class Network(Protocol):
    kind: str

    def on(self, host: str) -> list[str]:
        """The words before a command that run it on this host."""

    def address(self, host: str) -> str:
        """Where what runs on this host listens."""

    def way(self, asker: str, host: str, port: int) -> Address:
        """Where this asker finds what listens on that port of that host."""

    def part(self, one: str, other: str) -> None:
        """Nothing that one of them sends reaches the other."""

    def join(self, one: str, other: str) -> None: ...

    async def close(self) -> None: ...


class Loopback:
    """All hosts at 127.0.0.1, with a proxy on each line."""

    kind = "proxies"

    def __init__(self, hosts: Iterable[str]) -> None:
        self._proxies: dict[tuple[str, str, int], Proxy] = {}

    def on(self, host: str) -> list[str]:
        return []

    def address(self, host: str) -> str:
        return "127.0.0.1"

    def way(self, asker: str, host: str, port: int) -> Address:
        if asker == OUTSIDE:
            return ("127.0.0.1", port)
        line = (asker, host, port)
        if line not in self._proxies:
            self._proxies[line] = Proxy(("127.0.0.1", port))
        return self._proxies[line].address

    def part(self, one: str, other: str) -> None:
        for proxy in self._between(one, other):
            proxy.mute()

    def join(self, one: str, other: str) -> None:
        for proxy in self._between(one, other):
            proxy.heal()

    def _between(self, one: str, other: str) -> list[Proxy]:
        return [proxy for (asker, host, _), proxy in self._proxies.items() if {asker, host} == {one, other}]

    async def close(self) -> None:
        await asyncio.gather(*(proxy.close() for proxy in self._proxies.values()))


class Namespaces:
    """Each host a network namespace, all of them and the test itself at one bridge.

    A host that is parted from another has a wrong address for its network card: what it sends is dropped silently.
    """

    kind = "network namespaces"
    # Where no packet finds anything.
    NOWHERE = "02:00:00:00:00:ff"

    def __init__(self, hosts: Iterable[str]) -> None:
        self._mark = secrets.token_hex(3)
        self._bridge = f"mf{self._mark}"
        self._hosts = {name: number for number, name in enumerate([OUTSIDE, *hosts], start=1)}
        self._net = f"198.18.{secrets.randbelow(250) + 1}"
        try:
            self._build()
        except BaseException:
            self._remove()
            raise

    def _build(self) -> None:
        _ip("link", "add", self._bridge, "address", self._card(OUTSIDE), "type", "bridge")
        _ip("addr", "add", f"{self.address(OUTSIDE)}/24", "dev", self._bridge)
        _ip("link", "set", self._bridge, "up")
        for host, number in self._hosts.items():
            if host == OUTSIDE:
                continue
            space, cable = self._space(host), f"mf{self._mark}{number}"
            _ip("netns", "add", space)
            _ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space)
            _ip("link", "set", cable, "master", self._bridge, "up")
            _ip("-n", space, "link", "set", "eth0", "address", self._card(host))
            _ip("-n", space, "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
            for card in ("eth0", "lo"):
                _ip("-n", space, "link", "set", card, "up")
        for one, other in combinations(self._hosts, 2):
            self.join(one, other)

    def on(self, host: str) -> list[str]:
        return ["ip", "netns", "exec", self._space(host)]

    def address(self, host: str) -> str:
        return f"{self._net}.{self._hosts[host]}"

    def way(self, asker: str, host: str, port: int) -> Address:
        return (self.address(host), port)

    def part(self, one: str, other: str) -> None:
        self._tell(one, other, self.NOWHERE)
        self._tell(other, one, self.NOWHERE)

    def join(self, one: str, other: str) -> None:
        self._tell(one, other, self._card(other))
        self._tell(other, one, self._card(one))

    def _tell(self, host: str, of: str, card: str) -> None:
        where, device = (["-n", self._space(host)], "eth0") if host != OUTSIDE else ([], self._bridge)
        _ip(*where, "neigh", "replace", self.address(of), "lladdr", card, "nud", "permanent", "dev", device)

    def _space(self, host: str) -> str:
        return f"mf{self._mark}-{host}"

    def _card(self, host: str) -> str:
        return f"02:00:00:00:00:{self._hosts[host]:02x}"

    async def close(self) -> None:
        self._remove()

    def _remove(self) -> None:
        for host in self._hosts:
            subprocess.run(["ip", "netns", "del", self._space(host)], capture_output=True)
        subprocess.run(["ip", "link", "del", self._bridge], capture_output=True)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def may_make_namespaces() -> bool:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    name = f"mf{secrets.token_hex(3)}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode == 0
    subprocess.run(["ip", "netns", "del", name], capture_output=True)
    return made
