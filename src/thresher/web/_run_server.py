"""A server for one application: its socket, its token, the address that it prints, and a clean end."""

from __future__ import annotations

import contextlib
import gc
import secrets
import socket
import stat
import sys
from collections.abc import Callable, Collection
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from .._dataclasses import dataclass
from ._guard import ANY_ADDRESS, App, Guard, RequestLimits
from ._joined_writes import protocol_of_joined_writes

_SHORTEST = 32


@dataclass(frozen=True)
class ServerAddress:
    """The address of a server, and the token that gives access."""

    host: str = "127.0.0.1"
    port: int = 0
    """0: one that is free."""
    token_file: Path | None = None


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine reach such an address."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def read_token(path: Path) -> str:
    """The token in a file that only its owner can read."""
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise PermissionError(f"{path}: other users can read this token; run chmod 600 on the file.")
    with path.open("rb") as file:
        token = file.read(4097).strip().decode("ascii", errors="replace")
    if not _SHORTEST <= len(token) <= 4096 or not token.replace("-", "").replace("_", "").isalnum():
        raise ValueError(
            f"{path}: a token must have at least {_SHORTEST} letters, digits, - or _ and nothing else; make one with: "
            'python -c "import secrets; print(secrets.token_urlsafe(32))"'
        )
    return token


def run_server(
    app: App,
    place: ServerAddress,
    *,
    what: str = "service",
    limits: RequestLimits | None = None,
    is_open: Collection[str] = (),
    on_ready: Callable[[str], Any] | None = None,
) -> None:
    """Answer requests until Ctrl-C or SIGTERM; the address is printed on standard output when it can be used.

    `on_ready` is given the address with its token. Beyond loopback, a token file is needed: the address that
    is printed could be read by others on its way.
    """
    try:
        import uvicorn
    except ImportError:
        raise ValueError(f'A {what} needs uvicorn; install it with: pip install "thresher[web]"') from None

    if not is_loopback(place.host) and place.token_file is None:
        raise ValueError(
            f"--host {place.host} lets other machines reach this {what}; give --token-file FILE with a token that they "
            "must send, and note that nothing is encrypted."
        )
    token = secrets.token_urlsafe(32) if place.token_file is None else read_token(place.token_file)
    listener = _listen(place)
    port = listener.getsockname()[1]
    guard = Guard(
        app,
        token=token,
        hosts=_hosts(place.host),
        cookie=f"thresher-{port}",
        limits=limits,
        is_open=is_open,
    )
    config = uvicorn.Config(
        guard,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        http=protocol_of_joined_writes(),
        lifespan="on",
        timeout_graceful_shutdown=5,
    )
    if not is_loopback(place.host):
        print(
            f"Other machines can reach this {what}: anyone with the token may use it, and anyone on the network path "
            "can read everything, even the token. Put a proxy with TLS in front of it, or stay in a trusted network.",
            file=sys.stderr,
        )
    shown = f"[{place.host}]" if ":" in place.host else place.host
    with listener, contextlib.suppress(KeyboardInterrupt):  # a second Ctrl-C does not wait for open requests
        print(f"Press Ctrl-C to stop the {what}. Its address:", file=sys.stderr, flush=True)
        print(f"http://{shown}:{port}/" + (f"?token={token}" if place.token_file is None else ""), flush=True)
        if on_ready is not None:
            on_ready(f"http://{shown}:{port}/?token={token}")
        gc.freeze()  # what was imported and loaded stays, and looking for it again would hold up requests
        uvicorn.Server(config).run(sockets=[listener])


def _listen(place: ServerAddress) -> socket.socket:
    """A socket that is bound, so that the port is ours before it is printed."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            place.host, place.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror:
        raise ValueError(f"--host {place.host} is not an address of this machine.") from None
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError as problem:
        listener.close()
        raise OSError(f"{place.host}:{place.port} cannot be used: {problem.strerror}; choose another --port.") from None
    listener.listen(1024)
    return listener


def _hosts(host: str) -> set[str]:
    """The names that a request may use for this server."""
    names = {"localhost", "127.0.0.1", "::1", host.lower()}
    if is_loopback(host):
        return names
    names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return names | {ANY_ADDRESS}
