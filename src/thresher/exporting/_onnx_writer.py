"""A scoring as an ONNX graph, computed in double precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from .. import __version__
from .._estimators import NEAR, SHARPEST
from ._scoring import (
    Calibration,
    CategoryTerm,
    CurveTerm,
    DateTerm,
    Key,
    LinearTerm,
    Pieces,
    ProductTerm,
    Scoring,
    Term,
)
from ._targets import POWER_STEPS, cannot

OPSET, ML_OPSET, IR_VERSION = 18, 3, 8
_DOUBLE, _INT64 = 11, 7  # as ONNX numbers types


class Graph(Protocol):
    """Somewhere to put nodes and constants."""

    def node(self, op: str, inputs: Sequence[str], domain: str, **attributes: Any) -> str:
        """Add a node with one output; returns the name of that."""

    def constant(self, value: np.ndarray[Any, Any]) -> str:
        """Add a constant; returns its name."""


class _OwnGraph:
    """A graph that becomes a model of its own."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def node(self, op: str, inputs: Sequence[str], domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = f"thresher:value {len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], domain=domain, **attributes))
        return name

    def constant(self, value: np.ndarray[Any, Any]) -> str:
        from onnx import numpy_helper

        name = f"thresher:constant {len(self.constants)}"
        self.constants.append(numpy_helper.from_array(value, name))
        return name


def to_onnx(scoring: Scoring) -> bytes:
    """The model, as a file holds it.

    One input for each column, of shape (n, 1), numbers as doubles; or ``X`` of shape (n, n_columns) if columns have no
    names. Outputs: ``prediction`` of shape (n,), ``scores`` and, if there are any, ``probabilities`` of shape (n, k).
    """
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        raise ValueError('export: ONNX files need onnx: pip install "thresher[export]".') from None

    graph = _OwnGraph()
    if scoring.inputs and scoring.inputs[0].place is not None:
        inputs = [helper.make_tensor_value_info("X", TensorProto.DOUBLE, [None, None])]
        writer = OnnxScoring(graph, scoring, "X", {each.place: each.place for each in scoring.inputs})
    else:
        types = {each.name: TensorProto.STRING if each.type == "text" else _DOUBLE for each in scoring.inputs}
        inputs = [helper.make_tensor_value_info(name, kind, [None, 1]) for name, kind in types.items()]
        writer = OnnxScoring(graph, scoring)
    found = writer.outputs()
    taken = {each.name for each in scoring.inputs} & {"", *found}
    if taken:
        raise ValueError(
            f"export: the column name {taken.pop()!r} is reserved in ONNX graphs; train with another name."
        )
    outputs = []
    for name, (value, kind, width) in found.items():
        graph.nodes.append(helper.make_node("Identity", [value], [name]))
        outputs.append(helper.make_tensor_value_info(name, kind, [None] if width is None else [None, width]))
    made = helper.make_graph(graph.nodes, scoring.model, inputs, outputs, graph.constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    model = helper.make_model(
        made, opset_imports=opsets, ir_version=IR_VERSION, producer_name="thresher", producer_version=__version__
    )
    checker.check_model(model)
    return bytes(model.SerializeToString())


class OnnxScoring:
    """Writes a scoring into a graph. Inputs are columns of shape (n, 1), or a matrix that has them in ``places``."""

    def __init__(
        self, graph: Graph, scoring: Scoring, matrix: str | None = None, places: dict[Any, Any] | None = None
    ) -> None:
        self.graph, self.scoring, self.matrix, self.places = graph, scoring, matrix, places or {}

    def block(self, *keys: Key) -> str:
        """Columns side by side."""
        if self.matrix is not None:
            return self("Gather", self.matrix, np.array([self.places[key] for key in keys]), axis=1)
        return str(keys[0]) if len(keys) == 1 else self("Concat", *map(str, keys), axis=1)

    def __call__(self, op: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """A node; inputs are names, or constants."""
        names = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        return self.graph.node(op, names, domain, **attributes)

    def constant(self, value: Any) -> str:
        array = np.asarray(value)
        return self.graph.constant(array.astype(np.float64) if array.dtype.kind == "f" else array)

    def outputs(self) -> dict[str, tuple[str, int, int | None]]:
        """For each output the name of the value, its type, and its width (None: of one dimension)."""
        scores, n = self.scores(), self.scoring.n_scores
        if self.scoring.classes is None:
            return {"prediction": (self.flat(scores), _DOUBLE, None)}
        winner, probabilities = self.winner_and_probabilities(scores)
        labels = np.array(self.scoring.classes)
        if labels.dtype.kind == "U":
            labels = labels.astype(object)
        kind = {"O": 8, "f": _DOUBLE, "b": 9}.get(labels.dtype.kind, _INT64)
        found: dict[str, tuple[str, int, int | None]] = {
            "prediction": (self("Gather", labels, winner, axis=0), kind, None),
            "scores": (scores, _DOUBLE, n),
        }
        if probabilities is not None:
            found["probabilities"] = (probabilities, _DOUBLE, len(labels))
        return found

    def flat(self, value: str) -> str:
        return self("Reshape", value, np.array([-1], dtype=np.int64))

    # --- terms

    def scores(self) -> str:
        """The scores of each row, of shape (n, n_scores)."""
        parts = self.linear_parts([term for term in self.scoring.terms if isinstance(term, LinearTerm)])
        parts += [self.part(term) for term in self.scoring.terms if not isinstance(term, LinearTerm)]
        total = parts[0] if parts else self.nothing()
        for part in parts[1:]:
            total = self("Add", total, part)
        return self("Add", total, self.scoring.intercept)

    def nothing(self) -> str:
        """A zero for each row of a model that uses no column, whose input is never looked at."""
        raise ValueError(
            "export: this model uses no column, so an ONNX graph would have no input; export to sql, c or json."
        )

    def linear_parts(self, terms: list[LinearTerm]) -> list[str]:
        """All linear terms of columns whose missing values count, and all others."""
        parts = []
        for group in ([t for t in terms if t.missing is not None], [t for t in terms if t.missing is None]):
            if not group:
                continue
            x = self.block(*(term.column for term in group))
            moved = self("Sub", x, np.array([term.center for term in group]))
            weights = np.array([term.weights for term in group])
            if group[0].missing is not None:
                gone = self("IsNaN", x)
                moved = self("Where", gone, np.zeros(1), moved)
                missing = np.array([term.missing for term in group])
                parts.append(self("MatMul", self("Cast", gone, to=_DOUBLE), missing))
            parts.append(self("MatMul", moved, weights))
        return parts

    def part(self, term: Term) -> str:
        if isinstance(term, CurveTerm):
            x = self.block(term.column)
            curve = self.pieces(x, term.pieces)
            return curve if term.missing is None else self("Where", self("IsNaN", x), term.missing, curve)
        if isinstance(term, CategoryTerm):
            place = self.encoded(self.block(term.column), term.values)
            return self("Gather", np.vstack([np.zeros(term.weights.shape[1]), term.weights]), place, axis=0)
        if isinstance(term, DateTerm):
            return self.date(term)
        if isinstance(term, ProductTerm):
            return self.product(term)
        raise cannot("onnx", term)

    def encoded(self, text: str, values: list[str]) -> str:
        """The place of each text among values, from 1 on; 0 for others."""
        places = list(range(1, len(values) + 1))
        how = {"keys_strings": values, "values_int64s": places, "default_int64": 0}
        return self.flat(self("LabelEncoder", text, domain="ai.onnx.ml", **how))

    def pieces(self, x: str, pieces: Pieces) -> str:
        """A function in pieces of a column, of shape (n, n_functions)."""
        above = self("Cast", self("GreaterOrEqual", x, pieces.knots), to=_INT64)
        place = self.flat(self("ReduceSum", above, np.array([1], dtype=np.int64), keepdims=0))
        table = np.moveaxis(np.atleast_3d(pieces.coefficients.T).T, -1, 0)  # 3, n_functions, n_pieces
        c0, c1, c2 = (self("Gather", np.ascontiguousarray(each.T), place, axis=0) for each in table)
        u = self("Sub", x, self("Gather", pieces.anchors[:, None], place, axis=0))
        return self("Add", c0, self("Mul", u, self("Add", c1, self("Mul", u, c2))))

    def product(self, term: ProductTerm) -> str:
        columns = [self.block(key) for key in term.columns()]
        ranks = [self.pieces(x, rank) for x, rank in zip(columns, term.ranks, strict=True)]
        squares = [self("Sub", self("Mul", self("Mul", r, r), np.array(1.5)), np.array(0.5)) for r in ranks]
        (p, q), (_, n_a, n_b) = zip(ranks, squares, strict=True), term.weights.shape
        both = [self("Mul", p[i], q[j]) for i in range(n_a) for j in range(n_b)]
        total = self("MatMul", self("Concat", *both, axis=1), term.weights.reshape(len(term.weights), -1).T)
        gone = self("Or", *(self("IsNaN", x) for x in columns))
        return self("Where", gone, term.missing, total)

    def date(self, term: DateTerm) -> str:
        x = self.block(term.column)
        gone = self("IsNaN", x)
        seconds = self("Round", self("Mul", self("Where", gone, np.zeros(1), x), np.array(86400.0)))
        whole = self("Floor", self("Div", seconds, np.array(86400.0)))
        if term.part == "hour":
            rest = self("Sub", seconds, self("Mul", whole, np.array(86400.0)))
            place = self.whole(self("Floor", self("Div", rest, np.array(3600.0))))
        else:
            day = self.whole(whole)
            place = (
                self("Mod", self("Add", day, np.array(3)), np.array(7)) if term.part == "weekday" else self.month(day)
            )
        part = self("Gather", term.weights, self.flat(place), axis=0)
        return self("Where", gone, term.missing, part)

    def whole(self, value: str) -> str:
        return self("Cast", value, to=_INT64)

    def month(self, day: str) -> str:
        """In eras of 400 years, each from March on; whole numbers of at least 0 are divided downwards."""
        era = self("Mod", self("Add", day, np.array(719468)), np.array(146097))
        leap = self("Add", era, self("Div", era, np.array(36524)))
        gaps = self("Add", self("Div", era, np.array(1460)), self("Div", era, np.array(146096)))
        year = self("Div", self("Sub", leap, gaps), np.array(365))
        until = self(
            "Sub",
            self("Add", self("Mul", year, np.array(365)), self("Div", year, np.array(4))),
            (self("Div", year, np.array(100))),
        )
        march = self("Div", self("Add", self("Mul", self("Sub", era, until), np.array(5)), np.array(2)), np.array(153))
        return self("Mod", self("Add", march, np.array(2)), np.array(12))

    # --- classes

    def winner_and_probabilities(self, scores: str) -> tuple[str, str | None]:
        decision, told = self.scoring.decision, self.scoring.probabilities
        assert decision is not None
        if self.scoring.n_scores == 1:
            above = self("Greater", scores, np.array(decision.threshold or 0.0))
            winner = self.flat(self.whole(above))
            if not told:
                return winner, None
            odds = self.log_odds(scores, told[0])
            both = self("Concat", odds, self("Neg", odds), axis=1)
            return winner, self("Div", np.ones(1), self("Add", self("Exp", both), np.ones(1)))
        judged = scores
        if decision.calibrations is not None and decision.factors is not None:
            judged = self("Mul", self.shares(scores, decision.calibrations), decision.factors)
        winner = self("ArgMax", judged, axis=1, keepdims=0)
        return winner, self.shares(scores, told) if told else None

    def log_odds(self, score: str, how: Calibration) -> str:
        size = self("Div", self("Abs", score), np.array(how.unit))
        root = self("Sqrt", self("Add", self("Mul", size, size), np.ones(1)))
        asinh = self("Mul", self("Sign", score), self("Log", self("Add", size, root)))
        return self("Add", self.pieces(score, how.pieces), self("Mul", asinh, np.array(how.tilt)))

    def shares(self, scores: str, calibrations: list[Calibration]) -> str:
        n = self.scoring.n_scores
        axis = np.array([1], dtype=np.int64)
        best = self("ReduceMax", scores, axis)
        is_best = self("Equal", self("ArgMax", scores, axis=1, keepdims=1), np.arange(n))
        second = self("ReduceMax", self("Where", is_best, np.array(-np.inf), scores), axis)
        leads = self("Sub", scores, self("Where", is_best, second, best))
        columns = [self("Gather", leads, np.array([k]), axis=1) for k in range(n)]
        read = [self.log_odds(lead, how) for lead, how in zip(columns, calibrations, strict=True)]
        odds = self("Concat", *read, axis=1)
        told = self("Neg", self("Log", self("Add", self("Exp", self("Neg", odds)), np.ones(1))))
        logs = self("Min", told, np.array(-SHARPEST))
        power = self("Add", self("Mul", best, np.zeros(1)), np.ones(1))
        for _ in range(POWER_STEPS):
            parts = self("Exp", self("Mul", power, logs))
            total = self.summed(parts)
            slope = self.summed(self("Mul", parts, logs))
            step = self("Div", self("Mul", self("Log", total), total), slope)
            far = self("Greater", self("Abs", self("Sub", total, np.ones(1))), np.array(NEAR))
            moved = self("Max", self("Sub", power, step), np.zeros(1))
            power = self("Where", far, moved, power)
        parts = self("Exp", self("Mul", power, logs))
        return self("Div", parts, self.summed(parts))

    def summed(self, value: str) -> str:
        return self("ReduceSum", value, np.array([1], dtype=np.int64))
