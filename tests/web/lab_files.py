"""Files for the lab: a messy table such as people have, and one whose names try to be markup, code or paths."""

from __future__ import annotations

import random
from pathlib import Path

ATTACK = "<img src=x onerror=\"document.title='hacked'\">"
SCRIPT = "</script><script>document.title='hacked'</script>"


def write_messy(path: Path, n_rows: int = 160) -> Path:
    """Semicolons, decimal commas, dates, missing values, a row number, an empty column, words that repeat."""
    rng = random.Random(0)
    lines = ["id;joined;age;income;town;plan;note;left"]
    for i in range(n_rows):
        age, plan, income = rng.randint(18, 80), rng.choice(["basic", "plus", "pro"]), rng.gauss(3000, 800)
        score = (age - 45) / 12 + 1.5 * (plan == "basic") - (income - 3000) / 900 + rng.gauss(0, 0.8)
        joined = f"{rng.randint(1, 28):02d}.{rng.randint(1, 12):02d}.20{rng.randint(10, 23)}"
        shown_income = "" if rng.random() < 0.08 else f"{income:.2f}".replace(".", ",")
        shown_age = "?" if rng.random() < 0.03 else str(age)
        town = rng.choice(["Gent", "Köln", "Århus"])
        lines.append(f"{1000 + i};{joined};{shown_age};{shown_income};{town};{plan};;{'yes' if score > 0.5 else 'no'}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_hostile(path: Path, n_rows: int = 120) -> Path:
    """Markup and formulas in the names of columns, in cells and in labels."""
    rng = random.Random(1)

    header = [
        "x",
        "__proto__",
        "constructor",
        _field(ATTACK),
        _field("javascript:alert(1)"),
        _field(f"{SCRIPT} target"),
    ]
    lines = [",".join(header)]
    for _ in range(n_rows):
        x = rng.gauss(0, 1)
        cell = rng.choice([ATTACK, "=1+1", "{{7*7}}"])
        label = SCRIPT if x + rng.gauss(0, 0.3) > 0 else "' onmouseover='document.title=1"
        lines.append(
            ",".join([f"{x:.3f}", f"{rng.random():.3f}", str(rng.randint(0, 9)), *map(_field, (cell, cell, label))])
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
