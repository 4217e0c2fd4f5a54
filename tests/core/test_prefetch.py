"""GCC deletes calls of functions that do nothing but ask for memory. Sparse rows must be asked for all the same."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "core"
LOOP = """
#include "rows.hpp"
using namespace thresher;
double loop(const {rows}& rows, const index_t* order, index_t n) {{
  double sum = 0;
  const Ahead<{rows}> ahead(rows);
  for (index_t t = 0; t < n; ++t) {{
    ahead.ask(order, t, n);
    sum += rows.row(order[t], 1.0).square();
  }}
  return sum;
}}
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have other instructions")
@pytest.mark.parametrize(("rows", "n"), [("DenseRows<double>", 1), ("CsrRows<float, column_t>", 2)])
def test_rows_are_asked_for_in_compiled_code(rows, n, tmp_path):
    (tmp_path / "loop.cpp").write_text(LOOP.format(rows=rows))
    command = ["g++", "-std=c++17", "-O3", "-S", f"-I{CORE}", "loop.cpp", "-o", "loop.s"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert (tmp_path / "loop.s").read_text().count("prefetch") >= n
