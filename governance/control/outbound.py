"""What the service itself calls: never, unless an operator allows it, what only this machine can reach.

A name is looked up once, and what is called is the very address that was looked at.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

import httpcore
import httpx

from governance.errors import Fault, InvalidRequest

_MAX_URL: Final = 2_000
_UNICAST: Final = ipaddress.IPv6Network("2000::/3")
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
"""Where an IPv4 address is reached over IPv6: it lies where that one lies."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """A host with the one address of it that was looked at, so that it cannot become another on the way."""

    url: str
    """With the address in the host's place."""
    host: str
    """The ``Host`` header."""
    server_name: str
    """Whose certificate it must be."""


class Unreachable(Exception):
    """Nothing may be sent there, or the name leads nowhere; the text says why."""


def check_url(url: str, *, private: bool, setting: str, pointer: str = "/url") -> None:
    """Raises InvalidRequest, with a fault at ``pointer``, for an address that is not called.

    ``setting`` is the variable that makes it ``private``: that one may also lie inside the network.

    Names are looked up when they are called.
    """
    why = _fault(url, private=private)
    if why is not None:
        raise InvalidRequest(
            f"That address is not called: it {why}.",
            fix="Give an https address without credentials, for example https://hooks.example.com/skills;"
            f" addresses inside the service's network are for {setting}=true to allow.",
            faults=[Fault(pointer=pointer, message=why, code="url")],
        )


def _fault(url: str, *, private: bool) -> str | None:
    if len(url) > _MAX_URL or not url.isascii() or not url.isprintable() or " " in url:
        return "is too long, or holds characters that no address has"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "cannot be read"
    if parts.scheme not in ("https", "http") or not parts.hostname:
        return "is no http address"
    if parts.scheme == "http" and not private:
        return "is not https"
    if parts.username is not None or parts.password is not None:
        return "holds credentials, which would stand in logs"
    if parts.fragment:
        return "has a fragment, which is never sent"
    if port == 0:
        return "has no port"
    try:
        literal = ipaddress.ip_address(parts.hostname)
    except ValueError:
        return None
    return None if private or _is_outside(str(literal)) else "lies inside this network"


def located(url: str, *, private: bool) -> Address:
    """Look the host up, once. Raises Unreachable where any of its addresses lies inside this network."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        found = socket.getaddrinfo(
            host, parts.port or (443 if parts.scheme == "https" else 80), type=socket.SOCK_STREAM
        )
    except (OSError, UnicodeError):
        raise Unreachable(f"{host} leads nowhere") from None
    addresses = [str(one[4][0]).partition("%")[0] for one in found]
    if not private and not all(_is_outside(one) for one in addresses):
        raise Unreachable(f"{host} lies inside this network")
    return Address(url=_with_host(parts, addresses[0]), host=parts.netloc, server_name=host)


def _is_outside(address: str) -> bool:
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv4Address):
        return ip.is_global and not ip.is_multicast
    within = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else ip.ipv4_mapped or ip.sixtofour
    return _is_outside(str(within)) if within is not None else ip.is_global and ip in _UNICAST


def _with_host(parts: SplitResult, address: str) -> str:
    host = f"[{address}]" if ":" in address else address
    port = f":{parts.port}" if parts.port else ""
    return parts._replace(netloc=f"{host}{port}").geturl()


def client(timeout_sec: float) -> httpx.Client:
    """For one call to a located address: no redirects, no proxy of the environment.

    The call takes ``timeout_sec`` from now on at the most, however steadily a byte comes now and then.
    """
    return httpx.Client(timeout=timeout_sec, follow_redirects=False, trust_env=False, transport=_Bounded(timeout_sec))


class _Bounded(httpx.HTTPTransport):
    """A transport whose every read and write has what is left of one span of time."""

    def __init__(self, span_sec: float) -> None:
        context = httpx.create_ssl_context(trust_env=False)
        super().__init__(verify=context)
        self._pool = httpcore.ConnectionPool(ssl_context=context, network_backend=_Backend(span_sec))


class _Backend(httpcore.SyncBackend):
    def __init__(self, span_sec: float) -> None:
        self.ends = time.monotonic() + span_sec

    def left(self) -> float:
        """Seconds; a moment where none is left, so that what waits fails as what waited too long."""
        return max(self.ends - time.monotonic(), 0.001)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        stream = super().connect_tcp(host, port, self.left(), local_address, socket_options)
        return _Stream(stream, self)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, backend: _Backend) -> None:
        self._stream = stream
        self._backend = backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if time.monotonic() >= self._backend.ends:
            raise httpcore.ReadTimeout("it took too long in all")
        return self._stream.read(max_bytes, self._backend.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._backend.left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, self._backend.left()), self._backend)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


def fetched(url: str, *, private: bool, most_bytes: int, timeout_sec: float) -> bytes:
    """The body of a 200 answer to GET. Raises Unreachable for anything else, and for a body past ``most_bytes``."""
    address = located(url, private=private)
    headers = {"Host": address.host, "Accept": "application/json"}
    found = bytearray()
    try:
        with (
            client(timeout_sec) as http,
            http.stream(
                "GET", address.url, headers=headers, extensions={"sni_hostname": address.server_name}
            ) as answer,
        ):
            if answer.status_code != 200:
                raise Unreachable(f"{address.server_name} answered {answer.status_code}")
            for chunk in answer.iter_bytes():
                found += chunk
                if len(found) > most_bytes:
                    raise Unreachable(f"{address.server_name} answered more than {most_bytes} bytes")
    except httpx.HTTPError as error:
        raise Unreachable(f"{address.server_name} does not answer: {str(error) or type(error).__name__}") from None
    return bytes(found)
