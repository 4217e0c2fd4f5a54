"""Answers that leave in one piece: uvicorn writes the head and the body of an answer one by one, each a call of the
system and a packet, which cost as much as a prediction."""

from __future__ import annotations

import asyncio
from typing import Any


class JoinedWrites:
    """A transport that sends together what is written in one turn of the loop, two pieces at a time.

    Parameters
    ----------
    transport : asyncio.Transport
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport, self._held = transport, b""
        self._loop = asyncio.get_running_loop()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send a piece with the one before it; if there is none, with the next one, or at the end of the turn."""
        if self._held:
            held, self._held = self._held, b""
            self._transport.write(held + data)
        elif data:
            self._held = data
            self._loop.call_soon(self._flush)

    def close(self) -> None:
        """Send what was written, and close the connection."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        held, self._held = self._held, b""
        if held:
            self._transport.write(held)


def protocol_of_joined_writes() -> type[asyncio.Protocol]:
    """The protocol that uvicorn would choose, with such a transport."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class Protocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(JoinedWrites(transport))

    return Protocol
