"""Reading one CSV file as another was read: columns found again by name or by place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ._csv_look import Look


@dataclass(frozen=True)
class Places:
    """What each column of a file is.

    Attributes
    ----------
    kinds : str
        For each column of the file: n, t or -.
    features : list of int
        Where the features stand, in the order in which rows hold them.
    names : list of str
        What they are called.
    target : int or None
        Where the target stands.
    target_name : str or None
    """

    kinds: str
    features: list[int]
    names: list[str]
    target: int | None
    target_name: str | None

    @property
    def feature_kinds(self) -> str:
        return "".join(self.kinds[place] for place in self.features)

    def without_target(self) -> Places:
        if self.target is None:
            return self
        kinds = self.kinds[: self.target] + "-" + self.kinds[self.target + 1 :]
        return replace(self, kinds=kinds, target=None, target_name=None)

    def layout(self, header: bool) -> dict[str, Any]:
        return {
            "columns": list(self.names),
            "kinds": self.feature_kinds,
            "target": self.target_name,
            "target_kind": None if self.target is None else self.kinds[self.target],
            "header": header,
            "places": list(self.features),
            "target_place": self.target,
            "n_columns": len(self.kinds),
        }


def checked_layout(layout: Any) -> dict[str, Any]:
    """A layout with all its entries; it may come from a file that anybody wrote."""
    good = isinstance(layout, dict) and {"columns", "kinds", "target"} <= set(layout)
    columns, kinds, target = (layout["columns"], layout["kinds"], layout["target"]) if good else ([], "", None)
    good = good and isinstance(columns, list) and all(isinstance(name, str) for name in columns)
    good = good and isinstance(kinds, str) and set(kinds) <= {"n", "t"} and len(kinds) == len(columns) > 0
    good = good and len(set(columns)) == len(columns) and (target is None or isinstance(target, str))
    if not good:
        raise ValueError("open_stream: layout must be the layout() of another stream of tables.")
    n = len(columns)
    usual = {
        "target_kind": None if target is None else "n",
        "header": True,
        "places": list(range(n)),
        "target_place": None if target is None else n,
        "n_columns": n + (target is not None),
    }
    whole: dict[str, Any] = {**usual, **layout}
    if not isinstance(whole["places"], list) or type(whole["n_columns"]) is not int:
        raise ValueError("open_stream: layout must be the layout() of another stream of tables.")
    places = [*whole["places"], *([] if target is None else [whole["target_place"]])]
    if (
        not all(type(place) is int and 0 <= place < whole["n_columns"] for place in places)
        or len(set(places)) != len(places)
        or len(whole["places"]) != n
        or whole["target_kind"] not in (("n", "t") if target is not None else (None,))
        or type(whole["header"]) is not bool
    ):
        raise ValueError("open_stream: layout does not say where its columns stand.")
    return whole


def is_named(found: Look, layout: dict[str, Any]) -> bool:
    """Whether the first row of a file that is to be read by a layout holds names."""
    if layout["header"] and set(found.first) & {*layout["columns"], layout["target"]}:
        return True
    if len(found.first) != layout["n_columns"]:
        return False
    counts = found.first_counts()
    numbers = [counts[place] for place, kind in zip(layout["places"], layout["kinds"], strict=True) if kind == "n"]
    return any(count.words for count in numbers) and not any(count.numbers for count in numbers)


def by_layout(file: str, names: list[str] | None, n_columns: int, layout: dict[str, Any]) -> Places:
    """Where the columns of a layout stand in a file that has these names or, without a header, None."""
    target: int | None
    if names is not None and layout["header"]:
        missing = [name for name in layout["columns"] if name not in names]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise ValueError(f"{file}: the column {missing[0]!r}{more} that the model needs is missing.")
        features = [names.index(name) for name in layout["columns"]]
        target = names.index(layout["target"]) if layout["target"] in names else None
    else:
        features, target = _by_place(file, n_columns, layout)
    kinds = ["-"] * n_columns
    for place, kind in zip(features, layout["kinds"], strict=True):
        kinds[place] = kind
    if target is not None:
        kinds[target] = layout["target_kind"]
    return Places("".join(kinds), features, layout["columns"], target, None if target is None else layout["target"])


def _by_place(file: str, n_columns: int, layout: dict[str, Any]) -> tuple[list[int], int | None]:
    target = layout["target_place"]
    if n_columns == layout["n_columns"]:
        return layout["places"], target
    if target is not None and n_columns == layout["n_columns"] - 1:
        return [place - (place > target) for place in layout["places"]], None
    raise ValueError(
        f"{file}: without a header, {layout['n_columns']} columns are needed as in the file that was learned from, "
        f"got {n_columns}."
    )
