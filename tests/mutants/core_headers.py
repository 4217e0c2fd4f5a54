"""Mutants of the core: small faults in its headers, each behind a switch, all in one build.

An operator gets a proxy of the same precedence: in ``a < less<17>{} < b`` the proxy holds ``a`` and decides, when it
meets ``b``, whether to compare by ``<`` or by ``<=``. Conditions, numbers, statements and returned values are wrapped.
clang-format has put a space on each side of a binary operator and none beside a template bracket.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HEADER = """#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdlib>
#include <type_traits>

namespace mutants {
inline unsigned char unseen[1 << 16];
inline int active = [] {
  const char* given = std::getenv("THRESHER_MUTANT");
  return given ? std::atoi(given) : -1;
}();
inline unsigned char* reached = [] {
  const char* path = std::getenv("THRESHER_REACHED");
  const int file = path ? open(path, O_RDWR) : -1;
  if (file < 0) return unseen;
  void* bytes = mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return bytes == MAP_FAILED ? unseen : static_cast<unsigned char*>(bytes);
}();
inline bool on(int k) {
  reached[k] = 1;
  return k == active;
}
template <class T> auto other(int k, T value) {
  static_assert(std::is_arithmetic_v<T>);
  if constexpr (std::is_same_v<T, bool>) return on(k) ? !value : value;
  else return on(k) ? static_cast<T>(value + 1) : value;
}
"""
PROXY = """
template <int K> struct NAME {};
template <int K, class A> struct NAME##_of { const A& a; };
template <int K, class A> NAME##_of<K, A> operator OP(const A& a, NAME<K>) { return {a}; }
template <int K, class A, class B> auto operator OP(NAME##_of<K, A> left, const B& b) {
  using Result = decltype(left.a OP b);
  return on(K) ? static_cast<Result>(left.a OTHER b) : static_cast<Result>(left.a OP b);
}
"""
OPERATORS = {
    "<": ("less", "<="), "<=": ("most", "<"), ">": ("greater", ">="), ">=": ("least", ">"),
    "==": ("equal", "!="), "!=": ("unequal", "=="),
    "+": ("plus", "-"), "-": ("minus", "+"), "*": ("times", "/"), "/": ("over", "*"),
}  # fmt: skip
EXPORT = """
extern "C" __attribute__((visibility("default"))) void thresher_mutant(int active, unsigned char* reached) {
  mutants::active = active;
  mutants::reached = reached ? reached : mutants::unseen;
}
"""


@dataclass(frozen=True)
class Mutant:
    """One fault: the characters ``begin`` to ``end`` of a header, and what stands there, with K for its number."""

    file: str
    line: int
    kind: str
    before: str
    after: str
    begin: int
    end: int
    guarded: str


def header() -> str:
    """What every mutated header includes."""
    proxies = [
        PROXY.replace("NAME##", name).replace("NAME", name).replace("OP", operator).replace("OTHER", other)
        for operator, (name, other) in OPERATORS.items()
    ]
    return HEADER + "".join(proxies) + "}  // namespace mutants\n"


def _code(text: str) -> str:
    """The text with comments, strings and preprocessor lines blanked, at the same places."""
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])  # noqa: E731
    return re.sub(
        r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^\s*#[^\n]*", blank, text, flags=re.S | re.M
    )


def candidates(root: Path, path: Path) -> list[Mutant]:
    """Every place where a fault may be put; some do not compile."""
    text = path.read_text()
    code, found = _code(text), list[Mutant]()

    def add(kind: str, begin: int, end: int, after: str, guarded: str) -> None:
        line = text.count("\n", 0, begin) + 1
        found.append(Mutant(str(path.relative_to(root)), line, kind, text[begin:end], after, begin, end, guarded))

    for at in re.finditer(r"(?<= )(<|<=|>|>=|==|!=|\+|-|\*|/)(?= )", code):
        name, other = OPERATORS[at[0]]
        kind = "arithmetic" if at[0] in "+-*/" else "comparison"
        add(kind, at.start(), at.end(), other, f"{at[0]} mutants::{name}<K>{{}} {at[0]}")
    for at in re.finditer(r"\b(?:if|while) \(", code):
        end = _closing(code, at.end())
        if end:
            before = text[at.end() : end]
            add("not", at.end(), end, f"!({before})", f"mutants::on(K) != static_cast<bool>({before})")
    for at in re.finditer(r"(?<![\w.\"\[<])(\d+\.?\d*(?:e-?\d+)?)(?![\w.\"\]>])", code):
        add("constant", at.start(), at.end(), f"{at[0]} + 1", f"(mutants::on(K) ? {at[0]} + 1 : {at[0]})")
    for at in re.finditer(r"(?<=\n)( +)((?:\+\+|--)?[\w*(][\w.\[\]*>() +-]*(?: [+*/-]?= [^;\n{}]+)?);(?=\n| )", code):
        begin, end = at.start(2), at.end()
        if re.match(
            r"(?:return|break|continue|using|case|throw|for|if|while|static|__builtin_prefetch)\b|[\w:]+[*&]? \w", at[2]
        ):  # or a declaration
            continue
        add("statement dropped", begin, end, "", f"if (!mutants::on(K)) {text[begin:end]}")
    for at in re.finditer(r"\breturn ([^;{}\n]+);", code):
        before = text[at.start(1) : at.end(1)]
        add("return value", at.start(1), at.end(1), "another", f"mutants::other(K, {before})")
    for at in re.finditer(r"std::(min|max)(?=\()", code):
        end = _closing(code, at.end() + 1)
        if end:
            before, other = text[at.start() : end + 1], "max" if at[1] == "min" else "min"
            after = f"std::{other}{text[at.end() : end + 1]}"
            add("min / max", at.start(), end + 1, after, f"(mutants::on(K) ? {after} : {before})")
    return found


def _closing(code: str, begin: int) -> int | None:
    """Where the bracket closes that was opened before ``begin``."""
    depth = 1
    for k in range(begin, min(len(code), begin + 300)):
        depth += {"(": 1, ")": -1}.get(code[k], 0)
        if not depth:
            return k
    return None


def draw(root: Path, n: int, seed: int) -> list[Mutant]:
    """Mutants of core/*.hpp and core/learners/*.hpp, of each kind in turn, from anywhere; no two on a line."""
    paths = [p for p in sorted((root / "core").rglob("*.hpp")) if not p.name.startswith("bind")]
    kinds, rng = defaultdict[str, list[Mutant]](list), random.Random(seed)
    for path in paths:
        for mutant in candidates(root, path):
            kinds[mutant.kind].append(mutant)
    for found in kinds.values():
        rng.shuffle(found)
    chosen, lines = list[Mutant](), set[tuple[str, int]]()
    while len(chosen) < n and any(kinds.values()):
        for kind in sorted(kinds):
            if kinds[kind] and len(chosen) < n:
                mutant = kinds[kind].pop()
                span = {(mutant.file, mutant.line + k) for k in range(mutant.before.count("\n") + 1)}
                if not span & lines:
                    lines |= span
                    chosen.append(mutant)
    return chosen


def write(root: Path, mutants: dict[int, Mutant], originals: Path) -> None:
    """Headers under ``root`` as those under ``originals``, with the numbered mutants in them."""
    (root / "core" / "mutants.hpp").write_text(header())
    files = defaultdict[str, list[tuple[int, Mutant]]](list)
    for path in originals.joinpath("core").rglob("*.hpp"):
        files[str(path.relative_to(originals))] = []
    for number, mutant in mutants.items():
        files[mutant.file].append((number, mutant))
    for file, inside in files.items():
        text = (originals / file).read_text()
        for number, mutant in sorted(inside, key=lambda pair: -pair[1].begin):
            text = text[: mutant.begin] + re.sub(r"\bK\b", str(number), mutant.guarded) + text[mutant.end :]
        if inside:
            up = "../" * (file.count("/") - 1)
            text = text.replace("#pragma once", f'#pragma once\n#include "{up}mutants.hpp"', 1)
        (root / file).write_text(text)
    text = (originals / "core" / "bind.cpp").read_text()
    (root / "core" / "bind.cpp").write_text('#include "mutants.hpp"\n' + text + EXPORT)
    text = (originals / "CMakeLists.txt").read_text()
    (root / "CMakeLists.txt").write_text(text.replace("-O3", "-O1 -w"))


def faulty(root: Path, mutants: dict[int, Mutant], originals: Path, includes: list[str], jobs: int) -> set[int]:
    """Write the mutants; the numbers of those at lines of which the compiler complains."""
    write(root, mutants, originals)
    flags = ["-std=c++17", "-fsyntax-only", "-w", "-fmax-errors=0", *(f"-isystem{p}" for p in includes)]

    def errors_of(source: Path) -> str:
        return subprocess.run(["g++", *flags, str(source)], capture_output=True, text=True).stderr

    with ThreadPoolExecutor(jobs) as threads:
        errors = "".join(threads.map(errors_of, sorted((root / "core").glob("*.cpp"))))
    bad, shift = set[int](), 1  # the line that includes mutants.hpp
    for file, line in set(re.findall(r"core/(?:learners/\.\./)?([\w/]+\.hpp):(\d+):\d+: +(?:error|required)", errors)):
        above = [(m.line, k) for k, m in mutants.items() if m.file == f"core/{file}" and m.line + shift <= int(line)]
        if above:  # at this line, or what it needs was declared above
            bad.add(max(above)[1])
    if "error:" in errors and not bad:
        raise RuntimeError(f"The mutated core does not compile:\n{errors[:4000]}")
    return bad
