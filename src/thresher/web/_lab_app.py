"""The lab as an application: the page, and what it asks for."""

from __future__ import annotations

import asyncio
import json
import sys
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .. import __version__
from ..report import Say, file_in_words, profile_section, stylesheet, target_in_words, text_in_words
from ..wizard import QuestionPage
from ._guard import FAILED, HttpRefusal, RequestLimits
from ._lab_folder import LabFolder
from ._lab_rows import explain_row
from ._lab_runs import COLUMNS, DOWNLOADS, MODEL, REPORT, LabRun, LabRuns
from ._run_server import ServerAddress, run_server

MAX_BYTES = 1 << 30
_LONGEST_QUESTION = 1 << 20
_TICK = 0.25  # seconds between two looks at the events of a run
_QUIET = 15.0  # seconds after which a stream of events without news sends a sign of life
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'none'; sandbox"
)
_IN_FRAME = {"content-security-policy": _REPORT_POLICY, "x-frame-options": "SAMEORIGIN"}


def run_lab(folder: Path, address: ServerAddress, *, opens: bool = True) -> None:
    """Serve the lab of a folder until Ctrl-C; runs that were killed go on, and those that run go on without it.

    Parameters
    ----------
    folder : Path
    address : ServerAddress
    opens : bool
        Whether to open the page in a browser.
    """
    lab = LabFolder(folder)
    for number in LabRuns(lab).go_on():
        print(f"Run {number} continues where it stopped.", file=sys.stderr)
    show = webbrowser.open if opens else None
    run_server(lab_app(lab), address, what="lab", limits=RequestLimits(max_bytes=MAX_BYTES), on_ready=show)
    if any(run.state == "running" for run in LabRuns(lab)):
        print("A run is still in progress; start thresher lab again to see it.", file=sys.stderr)


def lab_app(lab: LabFolder) -> Starlette:
    """The application, without what guards it."""
    pages = _LabPages(lab)
    routes = [
        Route("/", _static("index.html")),
        Route("/report.css", lambda request: Response(_themed_style(), media_type="text/css")),
        *(Route(f"/{name}", _static(name)) for name in _static_names() if name != "index.html"),
        Route("/api/folder", pages.folder),
        Route("/api/files", pages.add_file, methods=["POST"]),
        Route("/api/look", pages.look, methods=["POST"]),
        Route("/api/runs", pages.new_run, methods=["POST"]),
        Route("/api/runs/{number}", pages.run),
        Route("/api/runs/{number}", pages.delete, methods=["DELETE"]),
        Route("/api/runs/{number}/events", pages.events),
        Route("/api/runs/{number}/stop", pages.stop, methods=["POST"]),
        Route("/api/runs/{number}/go-on", pages.go_on, methods=["POST"]),
        Route("/api/runs/{number}/why", pages.why, methods=["POST"]),
        Route("/api/runs/{number}/report", pages.report),
        Route("/api/runs/{number}/files/{name}", pages.download),
    ]
    handlers: dict[Any, Any] = {HttpRefusal: _refuse, ValueError: _refuse, OSError: _refuse, MemoryError: _refuse}
    handlers |= {404: _missing, 405: _missing, ClientDisconnect: _cut_off, Exception: _fail}
    return Starlette(routes=routes, exception_handlers=handlers)


class _LabPages:
    """The handlers of the page's requests."""

    def __init__(self, lab: LabFolder) -> None:
        self._lab, self._runs = lab, LabRuns(lab)

    def folder(self, request: Request) -> Response:
        """The files and the runs."""
        runs = [run.describe() for run in self._runs]
        return _json({"folder": self._lab.path.name, "files": self._lab.files(), "runs": runs, "version": __version__})

    async def add_file(self, request: Request) -> Response:
        name = request.query_params.get("name", "")
        return _json({"name": await self._lab.add(name, request.stream())})

    async def look(self, request: Request) -> Response:
        """What was understood of a file, and the questions that follow from the answers so far."""
        return _json(await run_in_threadpool(self._look, await _asked(request)))

    def _look(self, asked: dict[str, Any]) -> dict[str, Any]:
        name = _text(asked, "file")
        page = self._page(asked)
        found, stream = page.profile(), page.file.stream(None)
        section = profile_section(found, _without_options)
        for shown, column in zip(section["columns"], found.columns, strict=False):
            shown["column"] = column.name  # as the file has it
        data: dict[str, Any] = {
            "file": name,
            "about": f"{file_in_words([name], stream.n_bytes)}: {found.rows_in_words}. {text_in_words(found)}".strip(),
            "is_table": page.file.is_table,
            "profile": section,
            "target": page.answers.get("target"),
            "target_in_words": None if found.target is None else target_in_words(found),
            "left_out": page.left_out,
            "questions": page.entries,
        }
        if page.is_complete:
            call = replace(page.call(), path=name)
            call = replace(call, columns_file=COLUMNS) if "columns" in call.arguments else call
            data |= {"command": call.command_lines(), "python": call.python()}
        return data

    def _page(self, asked: dict[str, Any]) -> QuestionPage:
        typed, left_out, kinds = asked.get("typed", {}), asked.get("left_out"), asked.get("kinds", {})
        are_texts = (
            isinstance(typed, dict) and isinstance(kinds, dict) and _are_texts([*typed.values(), *kinds.values()])
        )
        if not are_texts or not (left_out is None or (isinstance(left_out, list) and _are_texts(left_out))):
            raise HttpRefusal(400, "Answers must be text, by the names of questions and columns.")
        return QuestionPage(self._lab.data(_text(asked, "file")), typed, left_out, kinds)

    async def new_run(self, request: Request) -> Response:
        return _json(await run_in_threadpool(self._new_run, await _asked(request)))

    def _new_run(self, asked: dict[str, Any]) -> dict[str, Any]:
        page = self._page(asked)
        for entry in page.entries:
            if entry["refusal"]:
                raise HttpRefusal(400, f"{entry['text']} {entry['refusal']}")
        kinds = page.answers.get("columns", {})
        job = {"file": _text(asked, "file"), "target": page.answers.get("target"), "typed": asked.get("typed", {})}
        return self._runs.new({**job, "left_out": page.left_out, "kinds": kinds}, kinds).describe()

    def _run(self, request: Request) -> LabRun:
        return self._runs.find(request.path_params["number"])

    def _done(self, request: Request) -> LabRun:
        run = self._run(request)
        if run.state != "done":
            raise HttpRefusal(409, "This run is not done yet.")
        return run

    def run(self, request: Request) -> Response:
        """A run with what came of it."""
        run = self._run(request)
        there = [name for name in DOWNLOADS if (run.path / name).is_file()]
        return _json({**run.describe(), "result": run.result, "downloads": there})

    def delete(self, request: Request) -> Response:
        self._run(request).delete()
        return _json({})

    def stop(self, request: Request) -> Response:
        run = self._run(request)
        run.stop()
        return _json(run.describe())

    def go_on(self, request: Request) -> Response:
        run = self._run(request)
        if run.state in ("interrupted", "failed"):
            run.begin()
        return _json(run.describe())

    def events(self, request: Request) -> Response:
        """The events of a run, from the first or the one after that which the browser has seen, as they come."""
        run = self._run(request)
        last = request.headers.get("last-event-id", "")
        after = int(last) if last.isascii() and last.isdigit() and len(last) < 9 else 0
        return StreamingResponse(_followed(run, after), media_type="text/event-stream")

    async def why(self, request: Request) -> Response:
        asked, run = await _asked(request), self._done(request)
        row, changes = asked.get("row"), asked.get("changes", {})
        if not isinstance(row, int) or isinstance(row, bool) or row < 1:
            raise HttpRefusal(400, "The row must be a whole number from 1 on.")
        if not isinstance(changes, dict):
            raise HttpRefusal(400, "Changes must be values by the names of columns.")
        return _json(await run_in_threadpool(explain_row, run, row, changes))

    def report(self, request: Request) -> Response:
        """The report, in the colours of the page, with nothing in it that could run."""
        text = (self._done(request).path / REPORT).read_text("utf-8")
        media = {"dark": "@media all", "light": "@media not all"}.get(request.query_params.get("theme", ""))
        text = text if media is None else text.replace("@media (prefers-color-scheme: dark)", media, 1)
        return Response(text, media_type="text/html", headers=_IN_FRAME)

    def download(self, request: Request) -> Response:
        run, name = self._done(request), request.path_params["name"]
        if name not in DOWNLOADS or not (run.path / name).is_file():
            raise HttpRefusal(404, "There is no such file.")
        stem = Path(run.job["file"]).name.partition(".")[0]
        shown = f"{stem}{name.removeprefix('model')}" if name == MODEL else f"{stem}-{name}"
        return FileResponse(run.path / name, filename=shown, headers=_IN_FRAME)


async def _followed(run: LabRun, after: int) -> AsyncIterator[str]:
    """Events as a browser reads them; the last is ``end``, with the state of the run."""
    quiet = 0.0
    yield "retry: 1000\n\n"
    while True:
        state = await run_in_threadpool(lambda: run.state)  # before the events: the last of them come before the end
        for number, line in await run_in_threadpool(run.events, after):
            after, quiet = number, 0.0
            yield f"id: {number}\ndata: {line}\n\n"
        if state != "running":
            yield f"event: end\ndata: {json.dumps(state)}\n\n"
            return
        if quiet >= _QUIET:
            quiet = 0.0
            yield ": still there\n\n"
        await asyncio.sleep(_TICK)
        quiet += _TICK


_without_options: Say = lambda remark: f"{remark.says}."  # noqa: E731


async def _asked(request: Request) -> dict[str, Any]:
    """The JSON object that a request holds."""
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise HttpRefusal(415, "The body must be JSON.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST_QUESTION:
            raise HttpRefusal(413, "The question is too long.")
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise HttpRefusal(400, "The body must be JSON.") from None
    if not isinstance(asked, dict):
        raise HttpRefusal(400, "The body must be a JSON object.")
    return asked


def _text(asked: dict[str, Any], name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str):
        raise HttpRefusal(400, f"{name} must be text.")
    return value


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _json(content: Any) -> Response:
    return JSONResponse(content)


async def _refuse(request: Request, problem: Exception) -> Response:
    """An error as a sentence; the guard adds the headers that every answer has."""
    status = problem.status if isinstance(problem, HttpRefusal) else 400
    if isinstance(problem, OSError) and problem.strerror:
        sentence = f"{Path(str(problem.filename or 'The file')).name}: {problem.strerror}."
    else:
        sentence = " ".join(str(problem).split()) or type(problem).__name__
    return JSONResponse({"error": sentence}, status_code=status)


async def _missing(request: Request, problem: Exception) -> Response:
    return JSONResponse({"error": "There is no such page."}, status_code=404)


async def _cut_off(request: Request, problem: Exception) -> Response:
    """For a client that disconnected in the middle of a body; the response may never be read."""
    return JSONResponse({"error": "The body ended too early."}, status_code=400)


async def _fail(request: Request, problem: Exception) -> Response:
    """For an unexpected error; the guard writes it to the log."""
    return JSONResponse({"error": FAILED}, status_code=500)


def _static_names() -> list[str]:
    room = resources.files(__package__) / "static"
    return sorted(file.name for file in room.iterdir() if Path(file.name).suffix in _TYPES)


def _static(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        content = (resources.files(__package__) / "static" / name).read_bytes()
        return Response(content, media_type=_TYPES[Path(name).suffix])

    return respond


def _themed_style() -> str:
    """The style of reports, whose colours follow a switch on the page as well as the system."""
    style = stylesheet()
    light, dark = (part.partition("}")[0] for part in style.split(":root {")[1:3])
    scheme = {"light": light.replace("light dark", "light"), "dark": f"{dark} color-scheme: dark;"}
    return style + "".join(f"\n[data-theme={name}] {{{colours}}}" for name, colours in scheme.items())
