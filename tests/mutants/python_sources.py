"""Mutants of Python sources: small faults in function bodies, each behind a switch.

A mutant replaces the text of an expression by ``((mutated) if __mutants__[k] else (original))``, or puts a condition
before a statement, so that one copy of the sources holds all mutants and a process chooses one at run time. Lines keep
their numbers.
"""

from __future__ import annotations

import ast
import copy
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SWITCH = "__mutants__"
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div}


@dataclass(frozen=True)
class Mutant:
    """One fault: the characters ``begin`` to ``end`` of a file, and what stands there instead."""

    file: str
    line: int
    kind: str
    before: str
    after: str
    begin: int
    end: int
    is_statement: bool = False

    def guarded(self, number: int) -> str:
        """The text with the switch in it."""
        if self.is_statement:
            return f"if not {SWITCH}[{number}]: {self.before}"
        return f"(({self.after}) if {SWITCH}[{number}] else ({self.before}))"


class _Finder(ast.NodeVisitor):
    """Faults in bodies of functions; what is evaluated at import is left alone, since tests have run past it."""

    def __init__(self, file: str, text: str):
        self.file, self.text, self.depth, self.found = file, text, 0, list[Mutant]()
        lines = text.splitlines(keepends=True)
        self.starts = [0]
        for line in lines:
            self.starts.append(self.starts[-1] + len(line))
        self.lines = lines

    def at(self, line: int, byte: int) -> int:
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:byte].decode())

    def add(self, node: ast.AST, kind: str, after: ast.AST | None, is_statement: bool = False) -> None:
        begin, end = self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        if any(isinstance(part, ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await) for part in ast.walk(node)):
            return
        before, mutated = self.text[begin:end], "" if after is None else ast.unparse(after)
        self.found.append(Mutant(self.file, node.lineno, kind, before, mutated, begin, end, is_statement))  # type: ignore[attr-defined]

    def changed(self, node: ast.AST, **fields: object) -> ast.AST:
        mutated = copy.copy(node)
        for name, value in fields.items():
            setattr(mutated, name, value)
        return mutated

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.depth += 1
        for statement in node.body:
            self.visit(statement)
        self.depth -= 1

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Words of a message, and positions that Python 3.11 does not know."""

    def visit_Match(self, node: ast.Match) -> None:
        for case in node.cases:
            for statement in case.body:
                self.visit(statement)

    def generic_visit(self, node: ast.AST) -> None:
        if self.depth:
            self.look(node)
        super().generic_visit(node)

    def look(self, node: ast.AST) -> None:
        match node:
            case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
                self.add(node, "comparison", self.changed(node, ops=[COMPARISONS[type(op)]()]))
            case ast.BinOp(op=op, left=left, right=right) if type(op) in ARITHMETIC:
                if not any(
                    isinstance(p, ast.JoinedStr) or _is_text(p) for side in (left, right) for p in ast.walk(side)
                ):
                    self.add(node, "arithmetic", self.changed(node, op=ARITHMETIC[type(op)]()))
            case ast.BoolOp(op=op):
                self.add(node, "and / or", self.changed(node, op=ast.Or() if isinstance(op, ast.And) else ast.And()))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.add(node, "not", operand)
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if not isinstance(test, ast.Constant):
                self.add(test, "not", ast.UnaryOp(op=ast.Not(), operand=test))
            case ast.Constant(value=bool() as value):
                self.add(node, "constant", ast.Constant(not value))
            case ast.Constant(value=int() | float() as value):
                self.add(node, "constant", ast.Constant(value + 1))
            case ast.Call(args=[first, second, *others]) if not any(isinstance(a, ast.Starred) for a in node.args):
                if ast.dump(first) != ast.dump(second):
                    self.add(node, "arguments swapped", self.changed(node, args=[second, first, *others]))
            case ast.Return(value=ast.AST() as value) if not isinstance(value, ast.Constant):
                self.add(value, "return value", ast.Constant(None))
            case ast.Expr(value=ast.Call()) | ast.AugAssign():
                self.add(node, "statement dropped", None, is_statement=True)
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                self.add(node, "statement dropped", None, is_statement=True)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def candidates(root: Path, path: Path) -> list[Mutant]:
    """Every mutant of a file."""
    text = path.read_text()
    finder = _Finder(str(path.relative_to(root)), text)
    finder.visit(ast.parse(text))
    return finder.found


def _compiles(root: Path, mutant: Mutant) -> bool:
    text = (root / mutant.file).read_text()
    try:
        compile(text[: mutant.begin] + mutant.guarded(0) + text[mutant.end :], mutant.file, "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def code_lines(path: Path) -> int:
    """Lines that are neither empty nor a comment nor part of a docstring or string on its own."""
    tree = ast.parse(path.read_text())
    said = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, node.end_lineno + 1)  # type: ignore[operator]
    }
    lines = path.read_text().splitlines()
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and k not in said for k, line in enumerate(lines, 1)
    )


def draw(root: Path, n: int, seed: int) -> list[Mutant]:
    """``n`` mutants of src/thresher, by lines of code from each room, of each kind in turn; no two touch."""
    rooms = defaultdict[str, list[Path]](list)
    for path in sorted((root / "src" / "thresher").rglob("*.py")):
        rooms[path.relative_to(root / "src" / "thresher").parts[0]].append(path)
    sizes = {room: sum(map(code_lines, paths)) for room, paths in rooms.items()}
    shares = {room: n * size / sum(sizes.values()) for room, size in sizes.items()}
    counts = {room: int(share) for room, share in shares.items()}
    for room in sorted(shares, key=lambda r: counts[r] - shares[r])[: n - sum(counts.values())]:
        counts[room] += 1
    rng, chosen = random.Random(seed), list[Mutant]()
    for room, paths in rooms.items():
        if counts[room]:
            found = [mutant for path in paths for mutant in candidates(root, path)]
            chosen += _spread(root, found, counts[room], rng)
    return chosen


def _spread(root: Path, found: list[Mutant], n: int, rng: random.Random) -> list[Mutant]:
    """``n`` of them, of each kind in turn, from places that do not overlap."""
    kinds = defaultdict[str, list[Mutant]](list)
    rng.shuffle(found)
    for mutant in found:
        kinds[mutant.kind].append(mutant)
    turn, chosen = sorted(kinds), list[Mutant]()
    rng.shuffle(turn)
    for mutant in _in_turn([kinds[kind] for kind in turn]):
        if len(chosen) == n:
            break
        touching = any(m.file == mutant.file and m.begin < mutant.end and mutant.begin < m.end for m in chosen)
        if not touching and _compiles(root, mutant):
            chosen.append(mutant)
    return chosen


def _in_turn(lists: list[list[Mutant]]) -> Iterator[Mutant]:
    for k in range(max(map(len, lists), default=0)):
        yield from (found[k] for found in lists if k < len(found))


def write(root: Path, mutants: dict[int, Mutant]) -> None:
    """Put the numbered mutants into the files under ``root``, which must be the text they were drawn from."""
    files = defaultdict[str, list[tuple[int, Mutant]]](list)
    for number, mutant in mutants.items():
        files[mutant.file].append((number, mutant))
    for file, inside in files.items():
        text = (root / file).read_text()
        for number, mutant in sorted(inside, key=lambda pair: -pair[1].begin):
            text = text[: mutant.begin] + mutant.guarded(number) + text[mutant.end :]
        (root / file).write_text(text)
