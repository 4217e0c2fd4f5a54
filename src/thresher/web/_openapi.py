"""The description of a service as OpenAPI has it."""

from __future__ import annotations

from typing import Any

import thresher

from ._row_form import ARROW, CSV, RowForm

_OBJECT: dict[str, Any] = {"type": "object"}
_ID: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 200}


def describe_service(form: RowForm, classes: list[str], learns: bool) -> dict[str, Any]:
    """OpenAPI 3.1 of a service for rows of this form."""
    row = _row(form)
    rows = {"type": "array", "items": row, "minItems": 1}
    label = {"enum": classes} if classes else {"type": "number"}
    one_or_many = {"oneOf": [{"required": ["row"]}, {"required": ["rows"]}]}
    ask = {**_OBJECT, "properties": {"row": row, "rows": rows}, **one_or_many}
    predict = {**ask, "properties": {**ask["properties"], "probabilities": {"type": "boolean"}, **_ids()}}
    labels = {"label": label, "labels": {"type": "array", "items": label, "minItems": 1}}
    learn = {
        **_OBJECT,
        "properties": {"row": row, "rows": rows, **labels, **_ids()},
        "oneOf": [{"required": ["label"]}, {"required": ["labels"]}],
    }
    paths = {
        "/predict": {"post": _operation("Predict one row or several.", predict, with_tables=True)},
        "/explain": {"post": _operation("The parts of the score of each row.", ask)},
        "/measures": {"get": _operation("Progressive measures, and alarms when the loss rises.")},
        "/health": {"get": {**_operation("Whether the service works."), "security": []}},
        "/metrics": {"get": _operation("Metrics in the text form of Prometheus.", answer="text/plain")},
        "/openapi.json": {"get": _operation("This description.")},
    }
    if learns:
        paths["/learn"] = {"post": _operation("Learn rows, or labels of earlier predictions.", learn, with_tables=True)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "thresher serve", "version": thresher.__version__},
        "paths": paths,
        "security": [{"token": []}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _ids() -> dict[str, Any]:
    return {"id": _ID, "ids": {"type": "array", "items": _ID}}


def _row(form: RowForm) -> dict[str, Any]:
    if form.is_sparse:
        return {**_OBJECT, "additionalProperties": {"type": "number"}}
    types = {"n": ["number", "string", "boolean", "null"], "d": ["string", "number", "null"], "t": ["string", "null"]}
    columns = {name: {"type": types[kind]} for name, kind in zip(form.columns, form.kinds, strict=True)}
    by_name = {**_OBJECT, "properties": columns, "required": list(columns)}
    return {"oneOf": [by_name, {"type": "array", "minItems": len(columns), "maxItems": len(columns)}]}


def _operation(
    summary: str, body: dict[str, Any] | None = None, *, with_tables: bool = False, answer: str = "application/json"
) -> dict[str, Any]:
    error = {"description": "One sentence in `error`.", "content": {"application/json": {"schema": _OBJECT}}}
    good = {"description": "The answer.", "content": {answer: {}}}
    made: dict[str, Any] = {"summary": summary, "responses": {"200": good, "default": error}}
    if body is not None:
        content: dict[str, Any] = {"application/json": {"schema": body}}
        content |= {kind: {} for kind in (CSV, *ARROW)} if with_tables else {}
        made["requestBody"] = {"required": True, "content": content}
    return made
