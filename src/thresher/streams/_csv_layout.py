"""Reading one CSV file as another was read: columns found again by name or by place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ._csv_look import CsvHead


@dataclass(frozen=True)
class Places:
    """The part that each column of a file plays."""

    kinds: str  # for each column of the file: n, t or -
    features: list[int]  # columns of the features, in the order in which rows hold them
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
    """Return a layout with all its entries; it may come from a file that anybody wrote."""
    if not _names_columns(layout):
        raise ValueError("open_stream: layout must be the layout() of another stream of tables.")
    n, with_target = len(layout["columns"]), layout["target"] is not None
    usual = {
        "target_kind": "n" if with_target else None,
        "header": True,
        "places": list(range(n)),
        "target_place": n if with_target else None,
        "n_columns": n + with_target,
    }
    whole: dict[str, Any] = {**usual, **layout}
    if not isinstance(whole["places"], list) or type(whole["n_columns"]) is not int:
        raise ValueError("open_stream: layout must be the layout() of another stream of tables.")
    if not _places_columns(whole, with_target):
        raise ValueError("open_stream: layout does not say where its columns stand.")
    return whole


def _names_columns(layout: Any) -> bool:
    if not isinstance(layout, dict) or not {"columns", "kinds", "target"} <= set(layout):
        return False
    columns, kinds, target = layout["columns"], layout["kinds"], layout["target"]
    if not isinstance(columns, list) or not isinstance(kinds, str) or not (target is None or isinstance(target, str)):
        return False
    named = all(isinstance(name, str) for name in columns) and len(set(columns)) == len(columns)
    return named and set(kinds) <= {"n", "t"} and len(kinds) == len(columns) > 0


def _places_columns(layout: dict[str, Any], with_target: bool) -> bool:
    places = [*layout["places"], *([layout["target_place"]] if with_target else [])]
    return (
        all(type(place) is int and 0 <= place < layout["n_columns"] for place in places)
        and len(set(places)) == len(places)
        and len(layout["places"]) == len(layout["columns"])
        and layout["target_kind"] in (("n", "t") if with_target else (None,))
        and type(layout["header"]) is bool
    )


def is_named(found: CsvHead, layout: dict[str, Any]) -> bool:
    """Whether the first row of a file that is to be read by a layout holds names."""
    if layout["header"] and set(found.first) & {*layout["columns"], layout["target"]}:
        return True
    if len(found.first) != layout["n_columns"]:
        return False
    counts = found.first_counts()
    numbers = [counts[place] for place, kind in zip(layout["places"], layout["kinds"], strict=True) if kind == "n"]
    return any(count.words for count in numbers) and not any(count.numbers for count in numbers)


def by_layout(file: str, names: list[str] | None, n_columns: int, layout: dict[str, Any]) -> Places:
    """Find the columns of a layout in a file that has these names or, without a header, None."""
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
