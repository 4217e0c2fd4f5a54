"""Requests to an application without a socket, through the layer that guards it."""

from __future__ import annotations

import asyncio
import json
from typing import Any, NamedTuple

from thresher.web import Guard, RequestLimits

TOKEN = "t" * 43


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class AsgiClient:
    """Asks as a program does that has the token."""

    CUT_OFF = b"the client goes behind this"

    def __init__(self, app: Any, max_bytes: int = 1 << 20) -> None:
        self._app = Guard(app, token=TOKEN, hosts={"lab"}, limits=RequestLimits(max_bytes=max_bytes))

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        given = {"host": "lab", "authorization": f"Bearer {TOKEN}", "content-length": str(len(content))}
        given |= {} if isinstance(body, bytes) or body is None else {"content-type": "application/json"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        return asyncio.run(self._ask(method, path, content, given))

    async def _ask(self, method: str, path: str, content: bytes, headers: dict[str, str]) -> Answer:
        from urllib.parse import unquote

        place, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(place),
            "raw_path": place.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 1),
            "server": ("lab", 80),
        }
        parts = [content]
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            if parts:
                return {"type": "http.request", "body": parts.pop(), "more_body": content == self.CUT_OFF}
            if content == self.CUT_OFF:
                return {"type": "http.disconnect"}
            await asyncio.sleep(3600)
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        head = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], head, b"".join(message.get("body", b"") for message in sent[1:]))
