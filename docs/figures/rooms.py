"""The picture of "Architecture", from the import contract in pyproject.toml: ``python docs/figures/rooms.py``."""

from __future__ import annotations

import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
ABOUT = {
    "cli": "the command line",
    "wizard": "questions for people outside the field",
    "_auto": "the black box",
    "distributed": "rounds over shards",
    "report": "what a run leaves behind, how it is tuned, compared and shown",
    "inspection": "public tools over fitted models",
    "online": "families: one algorithm, one file",
    "_estimators": "declared parameters and base classes: what scikit-learn sees",
    "_kernels": "kernels and kernel matrices",
    "onepass": "low-level interface, pictures, files, data sets, solvers, measures",
    "_engine": "state, learners, losses, orders: what runs a pass",
    "_gate": "user data become rows, targets, weights, labels",
}
WIDTH, HEIGHT, GAP, LEFT = 960, 46, 8, 20


def main() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    rows = [[name.strip() for name in layer.replace("|", ":").split(":")] for layer in layers]
    height = (len(rows) + 1) * (HEIGHT + GAP) + 60
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" role="img" '
        'aria-label="The rooms of the library, from the command line down to the compiled core">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for i, names in enumerate([*rows, ["core"]]):
        y = 20 + i * (HEIGHT + GAP)
        private = all(name.startswith("_") for name in names)
        fill = "#d9e6f2" if names == ["core"] else "#eef3f8" if private else "#f7f3e8"
        title = ", ".join(names)
        about = ABOUT.get(names[0], "C++17: one loop, one row interface, one loss table")
        out.append(f'<rect x="{LEFT}" y="{y}" width="{WIDTH - 2 * LEFT}" height="{HEIGHT}" rx="6" fill="{fill}"/>')
        out.append(f'<text x="{LEFT + 14}" y="{y + 19}" font-size="14" font-weight="600">{escape(title)}</text>')
        out.append(f'<text x="{LEFT + 14}" y="{y + 37}" font-size="13" fill="#555555">{escape(about)}</text>')
    y = height - 18
    out.append(f'<text x="{LEFT}" y="{y}" font-size="13" fill="#555555">Imports go down only. Rooms on one line ')
    out.append("are neighbours; families never import each other.</text></svg>")
    Path(__file__).with_suffix(".svg").write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
