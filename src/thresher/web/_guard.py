"""Access control for all pages and services: authentication, rate and size limits, and security headers."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, urlencode

from .._dataclasses import dataclass

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

ANY_ADDRESS = "*"
"""Among the hosts that are allowed: every address in numbers, none of which a foreign name server can point here."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_DATA_HEADERS: Headers = [  # of JSON, which shows nothing and runs nothing
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
_HEADERS: Headers = [
    (b"content-security-policy", POLICY.encode()),
    *_DATA_HEADERS[1:],
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
_NAMES = frozenset(name for name, _ in _HEADERS)
FAILED = "The server failed to answer this request; see its log."
_SINGLE = frozenset((b"host", b"origin", b"authorization", b"content-length", b"sec-fetch-site"))
_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
_IDLE_SECONDS = 30.0
_RETRY = [(b"retry-after", b"1")]
_CLOSE = [(b"connection", b"close")]
_log = logging.getLogger("thresher.web")


class HttpRefusal(Exception):
    """An error response: its status, and a sentence that says what to do."""

    def __init__(self, status: int, sentence: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, list(headers)


@dataclass(frozen=True)
class RequestLimits:
    """Limits on the size and the number of requests."""

    max_bytes: int = 64 << 20
    """The longest body."""
    requests_per_second: float = 10_000.0
    """Of one client, over some seconds."""
    max_open: int = 256
    """Requests that are being answered at the same time."""


async def send_json(send: Send, status: int, content: Any, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """Send an answer in JSON."""
    body = json.dumps(content, ensure_ascii=False, allow_nan=False).encode(errors="replace")
    fields = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": body})


class _Rates:
    """A leaky bucket for each client; one that has run empty is forgotten."""

    def __init__(self, per_second: float) -> None:
        self._per_second, self._room = per_second, max(1.0, 2 * per_second)
        self._levels: dict[str, tuple[float, float]] = {}

    def allows(self, client: str, now: float) -> bool:
        level, then = self._levels.get(client, (0.0, now))
        level = max(0.0, level - (now - then) * self._per_second)
        if level + 1 > self._room:
            self._levels[client] = (level, now)
            return False
        if len(self._levels) >= 4096 and client not in self._levels:
            self._levels = {
                who: (at, when) for who, (at, when) in self._levels.items() if at > (now - when) * self._per_second
            }
        self._levels[client] = (level + 1, now)
        return True


class Guard:
    """The one layer before an application: who asks, from where, how much; and errors as one sentence.

    Parameters
    ----------
    app : ASGI application
    token : str
        Required for all requests: in the address of the first visit (``?token=``), which turns it into a cookie, or as
        ``Authorization: Bearer``.
    hosts : collection of str
        The names and addresses that requests may be for, without ports; ``ANY_ADDRESS`` for all addresses in numbers.
    cookie : str
        The name of the cookie, another one for each port.
    limits : RequestLimits
    is_open : collection of str
        Paths that need no token.
    """

    def __init__(
        self,
        app: App,
        *,
        token: str,
        hosts: Collection[str],
        cookie: str = "thresher",
        limits: RequestLimits | None = None,
        is_open: Collection[str] = (),
    ) -> None:
        self._app, self._limits = app, limits or RequestLimits()
        self._hosts, self._cookie, self._is_open = frozenset(hosts), cookie.encode() + b"=", frozenset(is_open)
        self._token, self._bearer = token.encode(), b"bearer " + token.encode()
        self._rates, self._n_open = _Rates(self._limits.requests_per_second), 0
        self._known_hosts: dict[bytes, bool] = {}
        self._waits = _Waits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})
        answer = _Answer(send)
        self._n_open += 1
        try:
            headers = self._admit(scope)
            if not await self._sign_in(scope, headers, answer.send):
                length = _length(headers, self._limits.max_bytes)
                body = _Body(receive, self._limits.max_bytes, self._waits).receive if length != 0 else receive
                await self._app(scope, body, answer.send)
        except HttpRefusal as refusal:
            await answer.fail(refusal)
        except Exception as error:
            if answer.has_begun and isinstance(error, OSError):  # the client has gone
                return
            _log.error("%s %r failed", scope["method"], scope["path"], exc_info=error)
            if not answer.has_ended:  # the application may have said so itself
                await answer.fail(HttpRefusal(500, FAILED))
        finally:
            self._n_open -= 1

    def _admit(self, scope: Scope) -> dict[bytes, bytes]:
        """The headers of a request that is for this server, from itself or a program, and not one too many."""
        headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name in headers:
                if name in _SINGLE:
                    raise HttpRefusal(400, f"The header {name.decode()} must be given once.")
                headers[name] += b"; " + value
            else:
                headers[name] = value
        client = scope.get("client")
        if not self._rates.allows(client[0] if client else "", time.monotonic()):
            raise HttpRefusal(429, "There were too many requests; wait a second and try again.", _RETRY)
        if self._n_open > self._limits.max_open:
            raise HttpRefusal(503, "The server is busy; wait a second and try again.", _RETRY)
        host = headers.get(b"host", b"")
        if not self._is_for_us(host):
            raise HttpRefusal(421, "This server does not answer for that host name; use the address that it printed.")
        origin = headers.get(b"origin")
        if origin is not None and origin.lower() != scope["scheme"].encode() + b"://" + host.lower():
            raise HttpRefusal(403, "Pages of other sites may not use this server; open the address that it printed.")
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            raise HttpRefusal(403, "Other sites may not link to this server; paste the address that it printed.")
        return headers

    def _is_for_us(self, host: bytes) -> bool:
        known = self._known_hosts.get(host)
        if known is None:
            known = is_allowed(host.decode("latin-1"), self._hosts)
            if len(self._known_hosts) < 64:
                self._known_hosts[host] = known
        return known

    async def _sign_in(self, scope: Scope, headers: dict[bytes, bytes], send: Send) -> bool:
        """Check the token; returns whether the answer is sent already: the first visit goes on without the token."""
        given = headers.get(b"authorization")
        if given is not None:
            if not hmac.compare_digest(given[:7].lower() + given[7:].strip(), self._bearer):
                raise HttpRefusal(401, "The token is wrong for this server.", [(b"www-authenticate", b"Bearer")])
            return False
        if scope["path"] in self._is_open:
            return False
        cookies = (part.strip() for part in headers.get(b"cookie", b"").split(b";"))
        if any(hmac.compare_digest(part, self._cookie + self._token) for part in cookies):
            if scope["method"] not in _SAFE and b"origin" not in headers:
                raise HttpRefusal(403, "A request that changes something must have the header Origin.")
            if b"token=" not in scope["query_string"]:
                return False
        pairs = _query(scope["query_string"])
        tokens = [value for name, value in pairs if name == "token"]
        if (
            tokens
            and scope["method"] == "GET"
            and hmac.compare_digest(tokens[-1].encode(errors="replace"), self._token)
        ):
            place = scope.get("raw_path", scope["path"].encode()).split(b"?")[0]
            rest = urlencode([(name, value) for name, value in pairs if name != "token"]).encode()
            fields = [
                (b"location", b"/" + place.lstrip(b"/\\") + (b"?" + rest if rest else b"")),  # never another host
                (b"set-cookie", self._cookie + self._token + b"; HttpOnly; Path=/; SameSite=Strict"),
                (b"content-length", b"0"),
            ]
            await send({"type": "http.response.start", "status": 303, "headers": fields})
            await send({"type": "http.response.body", "body": b""})
            return True
        raise HttpRefusal(
            401,
            "A token is needed: open the address that the server printed, or send the header Authorization: Bearer "
            "with its token.",
            [(b"www-authenticate", b"Bearer")],
        )


def is_allowed(host: str, hosts: Collection[str]) -> bool:
    """Whether the value of a Host header, with or without a port, is among these names."""
    name, _, port = host.rpartition(":") if ":" in host and not host.endswith("]") else (host, "", "")
    if port and not (port.isascii() and port.isdigit()):
        return False
    name = name.lower().removesuffix(".")
    plain = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    if plain in hosts:
        return True
    if ANY_ADDRESS not in hosts:
        return False
    try:
        ip_address(plain)
    except ValueError:
        return False
    return True


def _query(text: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text.decode("latin-1"), keep_blank_values=True, max_num_fields=64)
    except ValueError:
        raise HttpRefusal(400, "The address has too many parameters.") from None


def _length(headers: dict[bytes, bytes], max_bytes: int) -> int | None:
    """The length of the body; None if it is not known before it is read."""
    text = headers.get(b"content-length")
    if text is None:
        return None if b"transfer-encoding" in headers else 0
    if not text.isdigit() or len(text) > 18:
        raise HttpRefusal(400, "The header content-length must be a whole number.")
    if int(text) > max_bytes:
        raise _too_long(max_bytes)
    return int(text)


def _too_long(max_bytes: int) -> HttpRefusal:
    return HttpRefusal(413, f"The body may have at most {max_bytes} bytes; send it in parts.", _CLOSE)


class _Waits:
    """Cancels tasks that wait too long for more of a body: one timer for all of them, because most wait for nothing."""

    def __init__(self) -> None:
        self._since: dict[asyncio.Task[Any], float] = {}  # the oldest first
        self._has_timer = False

    def begin(self, task: asyncio.Task[Any]) -> None:
        loop = asyncio.get_running_loop()
        self._since[task] = loop.time()
        if not self._has_timer:
            self._has_timer = True
            loop.call_later(_IDLE_SECONDS, self._cancel_late)

    def end(self, task: asyncio.Task[Any]) -> bool:
        """Whether it has not been too late."""
        return self._since.pop(task, None) is not None

    def _cancel_late(self) -> None:
        loop = asyncio.get_running_loop()
        for task, since in list(self._since.items()):
            if since + _IDLE_SECONDS > loop.time():
                loop.call_at(since + _IDLE_SECONDS, self._cancel_late)
                return
            del self._since[task]
            task.cancel()
        self._has_timer = False


class _Body:
    """A body that ends in time, and before it is too long."""

    def __init__(self, receive: Receive, max_bytes: int, waits: _Waits) -> None:
        self._receive, self._max_bytes, self._left, self._waits = receive, max_bytes, max_bytes, waits
        self._ended = False

    async def receive(self) -> Message:
        task = asyncio.current_task()
        if self._ended or task is None:  # what comes now is that the client has gone, whenever that is
            return await self._receive()
        self._waits.begin(task)
        try:
            message = await self._receive()
        except asyncio.CancelledError:
            if self._waits.end(task) or task.uncancel():
                raise
            raise HttpRefusal(408, "The body did not arrive in time; send it again.", _CLOSE) from None
        except BaseException:
            self._waits.end(task)
            raise
        self._waits.end(task)
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise _too_long(self._max_bytes)
        self._ended = not message.get("more_body", False)
        return message


class _Answer:
    """An answer, with the headers that every answer has."""

    def __init__(self, send: Send) -> None:
        self._send, self.has_begun, self.has_ended = send, False, False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            given: Headers = message.get("headers", [])
            every = _DATA_HEADERS if (b"content-type", b"application/json") in given else _HEADERS
            if not _NAMES.isdisjoint([name for name, _ in given]):
                names = {name for name, _ in given}
                every = [pair for pair in every if pair[0] not in names]
            message["headers"] = [*given, *every]
        await self._send(message)
        self.has_ended = message["type"] == "http.response.body" and not message.get("more_body", False)

    async def fail(self, refusal: HttpRefusal) -> None:
        if self.has_begun:  # half an answer must not look whole
            raise refusal
        await send_json(self.send, refusal.status, {"error": str(refusal)}, refusal.headers)
