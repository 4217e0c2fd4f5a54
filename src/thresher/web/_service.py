"""``thresher serve``: a model over HTTP, which may learn while it answers."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

from .._estimators import task_of
from ..inspection import Reasons, reasons
from ..training import learner_of, written_label
from ._guard import HttpRefusal, Receive, RequestLimits, Scope, Send
from ._journal import Journal
from ._learning_loop import LearningLoop
from ._live_model import LiveModel
from ._openapi import describe_service
from ._prediction_batches import PredictionBatches, ServedAnswer
from ._row_form import ARROW, CSV, Row
from ._run_server import ServerAddress, run_server
from ._service_metrics import metrics_text

_LONGEST_ID = 200
_MOST_EXPLAINED = 100
_JSON = b"application/json"


class ServiceOptions(NamedTuple):
    """The options of ``thresher serve`` besides the model and the address."""

    learn: Path | None = None
    """The folder of the journal and the checkpoint; None if nothing is learned."""
    checkpoint_seconds: float = 30.0
    max_bytes: int = 16 << 20
    requests_per_second: float = 10_000.0


def serve(model_path: Path, address: ServerAddress, options: ServiceOptions, reading: dict[str, Any]) -> None:
    """Serve a model until Ctrl-C.

    Parameters
    ----------
    model_path : Path
    address : ServerAddress
    options : ServiceOptions
    reading : dict
        Arguments of ``open_stream`` for files like those the model was trained on.
    """
    limits = RequestLimits(max_bytes=options.max_bytes, requests_per_second=options.requests_per_second)
    run_server(ModelService(model_path, options, reading), address, limits=limits, is_open={"/health"})


class _RequestRead(NamedTuple):
    kind: str
    body: bytes


Handler = Callable[[_RequestRead], Awaitable[Any]]


class ModelService:
    """The ASGI application: predictions, reasons, labels, measures."""

    def __init__(self, model_path: Path, options: ServiceOptions, reading: dict[str, Any] | None = None) -> None:
        journal = None if options.learn is None else Journal(options.learn)  # from here on the folder is locked
        self.live = LiveModel(model_path, options.learn, reading)
        self.learning = None if journal is None else LearningLoop(self.live, journal, options.checkpoint_seconds)
        self.predictions = PredictionBatches(self.live)
        self.n_answers: Counter[tuple[str, int]] = Counter()
        self.seconds: dict[str, float] = {}
        self.began = time.time()
        self._classes = [str(written_label(c)) for c in getattr(self.live.model, "classes_", ())]
        self._has_chances = task_of(self.live.model) == "classification" and hasattr(self.live.model, "predict_proba")
        self._decoder = json.JSONDecoder(parse_constant=_no_constant)
        self._encode = json.JSONEncoder(allow_nan=False).encode
        self._routes: dict[str, tuple[str, Handler]] = {
            "/": ("GET", self._welcome),
            "/predict": ("POST", self._predict),
            "/explain": ("POST", self._explain),
            "/learn": ("POST", self._learn),
            "/measures": ("GET", self._measures),
            "/health": ("GET", self._health),
            "/metrics": ("GET", self._metrics),
            "/openapi.json": ("GET", self._openapi),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._live_on(receive, send)
        begin, path, status = time.perf_counter(), scope["path"], 500
        try:
            content = await self._answer(scope, receive)
            status = 200
        except HttpRefusal as refusal:
            status = refusal.status
            raise
        except ValueError as refusal:  # the library's errors are one sentence each
            status = 400
            raise HttpRefusal(400, str(refusal)) from None
        finally:
            path = path if path in self._routes else "other"
            self.n_answers[path, status] += 1
            self.seconds[path] = self.seconds.get(path, 0.0) + time.perf_counter() - begin
        is_text = isinstance(content, str)
        body = (content if isinstance(content, str) else self._encode(content)).encode()
        fields = [(b"content-type", b"text/plain; version=0.0.4; charset=utf-8" if is_text else _JSON)]
        fields.append((b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": 200, "headers": fields})
        await send({"type": "http.response.body", "body": body if scope["method"] != "HEAD" else b""})

    async def _answer(self, scope: Scope, receive: Receive) -> Any:
        method, handler = self._routes.get(scope["path"], (None, None))
        if handler is None or method is None:
            raise HttpRefusal(404, f"There is no such address; the service answers at {', '.join(self._routes)}.")
        if scope["method"] != method and not (scope["method"] == "HEAD" and method == "GET"):
            raise HttpRefusal(405, f"This address takes {method} requests.", [(b"allow", method.encode())])
        kind = next((value for name, value in scope["headers"] if name == b"content-type"), _JSON)
        return await handler(_RequestRead(kind.split(b";")[0].strip().lower().decode("latin-1"), await _body(receive)))

    async def _live_on(self, receive: Receive, send: Send) -> None:
        """Run what runs beside requests, from the start of the server to its end."""
        await receive()
        tasks = []
        if self.learning is not None:
            tasks = [asyncio.create_task(self.learning.write()), asyncio.create_task(self.learning.apply())]
        await send({"type": "lifespan.startup.complete"})
        await receive()
        if self.learning is not None:
            await self.learning.end(*tasks)
        await send({"type": "lifespan.shutdown.complete"})

    # --- rows ---------------------------------------------------------------------------------------------------------

    def _json(self, body: bytes) -> dict[str, Any]:
        try:
            found = self._decoder.decode(body.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            reason = str(error) if isinstance(error, _Constant) else "The body must be JSON, in UTF-8."
            raise HttpRefusal(400, reason) from None
        if not isinstance(found, dict):
            raise HttpRefusal(400, 'The body must be an object, such as {"row": {...}} or {"rows": [...]}.')
        return found

    def _rows(self, asked: dict[str, Any]) -> tuple[list[Row], bool]:
        """The rows of a request, and whether it is one row that is not in a list."""
        if ("row" in asked) == ("rows" in asked):
            raise HttpRefusal(400, "The body must have a row or rows, and not both.")
        if "row" in asked:
            return [self.live.form.read(asked["row"])], True
        if not isinstance(asked["rows"], list) or not asked["rows"]:
            raise HttpRefusal(400, "rows must be a list of at least one row.")
        return list(map(self.live.form.read, asked["rows"])), False

    async def _predict(self, request: _RequestRead) -> Any:
        if request.kind == CSV or request.kind in ARROW:
            return {"predictions": [answer.to_dict(self._classes) for answer in await self._predict_batches(request)]}
        asked = self._json(request.body)
        rows, is_one = self._rows(asked)
        wants = asked.get("probabilities", False)
        if wants and not self._has_chances:
            raise HttpRefusal(400, "probabilities must be false, because the model has none.")
        now = self.predictions.predict_now(rows[0]) if is_one and not wants else None
        answers = await self.predictions.predict(rows, bool(wants)) if now is None else [now]
        if self.learning is not None:
            self.learning.asked_at = time.monotonic()
            if "id" in asked or "ids" in asked:
                await self._remember(_ids(asked, len(rows), is_one), rows, answers)
        made = [answer.to_dict(self._classes) for answer in answers]
        return made[0] if is_one else {"predictions": made}

    async def _predict_batches(self, request: _RequestRead) -> list[ServedAnswer]:
        answers: list[ServedAnswer] = []
        for batch in self.live.form.batches(request.kind, request.body):
            answers += self.predictions.answers(batch.X, False)
            await asyncio.sleep(0)
        if not answers:
            raise ValueError("The body has no rows.")
        return answers

    async def _remember(self, names: list[str | None], rows: list[Row], answers: list[ServedAnswer]) -> None:
        assert self.learning is not None
        kept = [
            [name, row, answer.prediction]
            for name, row, answer in zip(names, rows, answers, strict=True)
            if name is not None and not self.learning.is_learned(name)
        ]
        if kept:
            self.learning.check_room(len(kept))
            await self.learning.remember(kept)

    async def _explain(self, request: _RequestRead) -> Any:
        asked = self._json(request.body)
        rows, is_one = self._rows(asked)
        if len(rows) > _MOST_EXPLAINED:
            raise HttpRefusal(400, f"At most {_MOST_EXPLAINED} rows can be explained at a time, got {len(rows)}.")
        matrix, found = self.live.form.matrix(rows), []
        for place in range(len(rows)):
            found.append(_as_json(reasons(self.live.model, matrix[place : place + 1])[0]))
            await asyncio.sleep(0)  # the reasons of a kernel model take long, so other requests are answered in between
        return found[0] if is_one else {"rows": found}

    # --- labels -------------------------------------------------------------------------------------------------------

    async def _learn(self, request: _RequestRead) -> Any:
        if self.learning is None:
            raise HttpRefusal(403, "This service does not learn; start it with --learn FOLDER.")
        if request.kind == CSV or request.kind in ARROW:
            labelled = [self.live.form.rows_of(batch) for batch in self.live.form.batches(request.kind, request.body)]
            rows = [[None, row, label, None] for some in labelled for row, label in zip(*some, strict=True)]
        else:
            rows = self._labelled(self._json(request.body))
        new: dict[Any, list[Any]] = {}
        for place, row in enumerate(rows):
            if row[0] is None or not self.learning.is_learned(row[0]):
                new.setdefault(place if row[0] is None else row[0], row)  # an id that comes twice counts once
        kept = [self._found(row) for row in new.values()]
        self.learning.check_room(len(kept))
        if not kept:
            await self.learning.all_written()
            return {"accepted": 0, "known": len(rows)}
        entry = await self.learning.learn(kept)
        return {"accepted": len(kept), "known": len(rows) - len(kept), "entry": entry}

    def _labelled(self, asked: dict[str, Any]) -> list[list[Any]]:
        """Rows with their ids and labels; the row is None if only its id is given."""
        is_one = "label" in asked
        if is_one == ("labels" in asked):
            raise HttpRefusal(400, "The body must have a label or labels, and not both.")
        labels = [asked["label"]] if is_one else asked["labels"]
        if not isinstance(labels, list) or not labels:
            raise HttpRefusal(400, "labels must be a list of at least one label.")
        names = _ids(asked, len(labels), is_one)
        rows: list[Any] = [None] * len(labels)
        if "row" in asked or "rows" in asked:
            rows, one_row = self._rows(asked)
            if one_row != is_one or len(rows) != len(labels):
                raise HttpRefusal(400, "There must be one label for each row.")
        elif None in names:
            raise HttpRefusal(400, "A label needs the id of an earlier prediction, or its row.")
        values = map(self.live.form.read_label, labels)
        return [[name, row, label, None] for name, row, label in zip(names, rows, values, strict=True)]

    def _found(self, row: list[Any]) -> list[Any]:
        """A labelled row with the prediction that it belongs to."""
        assert self.learning is not None
        name, values, label, _ = row
        earlier = None if name is None else self.learning.prediction(name)
        if values is not None:
            return [name, values, label, None if earlier is None or earlier[0] != values else earlier[1]]
        if earlier is None:
            raise HttpRefusal(404, f"No prediction has the id {name!r}; send the row with its label.")
        return [name, earlier[0], label, earlier[1]]

    # --- what is going on ---------------------------------------------------------------------------------------------

    async def _welcome(self, _: _RequestRead) -> Any:
        learner = type(learner_of(self.live.model)).__name__
        return {"model": learner, "columns": self.live.form.columns, "classes": self._classes, "see": "/openapi.json"}

    async def _measures(self, _: _RequestRead) -> Any:
        live, made = self.live, self.live.measures.summary()
        if self.learning is None:
            return {"learning": False}
        state = {"learned": live.n_learned, "refused": live.n_refused, "last_refusal": live.last_refusal}
        state |= {"not_yet_learned": self.learning.n_rows_ahead, "waiting_for_labels": len(live.waiting)}
        return {"learning": True, **state, "problem": self.learning.problem, "measures": made}

    async def _health(self, _: _RequestRead) -> Any:
        if self.learning is not None and self.learning.problem is not None:
            raise HttpRefusal(503, self.learning.problem)
        return {"status": "ok"}

    async def _metrics(self, _: _RequestRead) -> Any:
        return metrics_text(self)

    async def _openapi(self, _: _RequestRead) -> Any:
        return describe_service(self.live.form, self._classes, self.learning is not None)


class _Constant(ValueError):
    pass


def _no_constant(name: str) -> Any:
    raise _Constant(f"{name} is not a number in JSON; write null for a missing value.")


async def _body(receive: Receive) -> bytes:
    message = await receive()
    if not message.get("more_body", False):
        return message.get("body", b"")
    parts = [message["body"]]
    while message.get("more_body", False):
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HttpRefusal(400, "The body ended too early.")
        parts.append(message.get("body", b""))
    return b"".join(parts)


def _ids(asked: dict[str, Any], n: int, is_one: bool) -> list[str | None]:
    """The ids of the rows of a request; None where there is none."""
    name = "id" if is_one else "ids"
    if ("ids" if is_one else "id") in asked:
        raise HttpRefusal(400, "Send id with one row or label, and ids with a list.")
    given = asked.get(name)
    if given is None:
        return [None] * n
    found = [given] if is_one else given
    if not isinstance(found, list) or len(found) != n or not all(map(_is_id, found)):
        raise HttpRefusal(400, f"Ids must be texts of 1 to {_LONGEST_ID} characters, one for each row.")
    return found


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_ID


def _as_json(found: Reasons) -> dict[str, Any]:
    return {
        "answer": written_label(found.answer),
        "against": written_label(found.against),
        "probability": found.probability,
        "needed": found.needed,
        "score": found.score,
        "baseline": found.baseline,
        "parts": [{"column": p.name, "value": _plain(p.value), "part": p.part} for p in found.parts],
    }


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and value != value else value
