"""Tables as the world writes them, made from known values: encodings, locales, dates, marks, quotes, headers."""

from __future__ import annotations

import csv
import datetime
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

N_ROWS = 240
NAMES = ["amount", "people", "share", "when", "town", "smoker", "left"]
TOWNS = ["Köln", "Münster", "Zürich", "Gent"]
MISSING = 0.1  # of the values of each column but the target


@dataclass(frozen=True)
class Nasty:
    """How a table is written."""

    encoding: str = "utf-8"
    delimiter: str = ","
    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    date: str = "%Y-%m-%d"
    missing: str = ""
    quoting: int = csv.QUOTE_MINIMAL
    header: bool = True
    truth: tuple[str, str] = ("yes", "no")
    line: str = "\n"

    def __str__(self) -> str:
        marks = self.decimal + {" ": "blank", "": "none", "\u00a0": "nbsp"}.get(self.thousands, self.thousands)
        date = self.date.replace("%", "")
        return f"{self.encoding} {self.delimiter!r} {marks} {self.unit} {date} {self.missing!r} {self.truth[0]}"


@dataclass(frozen=True)
class Truth:
    """The values of a table; NaN and "" are missing."""

    numbers: np.ndarray  # amount, people, share, days since 1970, smoker
    towns: list[str]
    left: list[str]


def truth(n_rows: int = N_ROWS, seed: int = 0) -> Truth:
    rng = np.random.default_rng(seed)
    amount = np.round(rng.uniform(0.01, 9000, n_rows), 2)
    people = rng.integers(1000, 3_000_000, n_rows).astype(float)
    share = np.round(rng.uniform(0, 100, n_rows), 1)
    days = rng.integers(15000, 20000, n_rows).astype(float)
    smoker = rng.integers(0, 2, n_rows).astype(float)
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(int) % 12
    score = amount / 3000 - 1.5 + (months >= 6) - smoker + rng.normal(0, 0.3, n_rows)
    numbers = np.stack([amount, people, share, days, smoker], axis=1)
    towns = [TOWNS[k] for k in rng.integers(0, len(TOWNS), n_rows)]
    gone = rng.uniform(size=(n_rows, 6)) < MISSING
    gone[0] = False  # a first row of values, as most tables have one
    numbers = np.where(gone[:, :5], np.nan, numbers)
    towns = ["" if missing else town for town, missing in zip(towns, gone[:, 5], strict=True)]
    return Truth(numbers, towns, ["gegangen" if s > 0 else "geblieben" for s in score])


def as_text(values: Truth, how: Nasty) -> bytes:
    """The table as it is written."""

    def number(value: float, digits: int, unit: str = "") -> str:
        if np.isnan(value):
            return how.missing
        text = f"{value:,.{digits}f}".replace(",", "\0").replace(".", how.decimal).replace("\0", how.thousands)
        return f"{text} {unit}" if unit in ("€", "%") else f"{unit}{text}"

    def date(days: float) -> str:
        return how.missing if np.isnan(days) else _EPOCH + datetime.timedelta(days=days)  # type: ignore[return-value]

    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=how.delimiter, quoting=how.quoting, lineterminator=how.line)
    if how.header:
        writer.writerow(NAMES)
    for (amount, people, share, days, smoker), town, left in zip(
        values.numbers, values.towns, values.left, strict=True
    ):
        when = date(days)
        writer.writerow(
            [
                number(amount, 2, how.unit),
                number(people, 0),
                number(share, 1, "%" if how.unit else ""),
                when if isinstance(when, str) else when.strftime(how.date),
                town or how.missing,
                how.missing if np.isnan(smoker) else how.truth[0 if smoker else 1],
                left,
            ]
        )
    return file.getvalue().encode(how.encoding)


_EPOCH = datetime.datetime(1970, 1, 1)
_LOCALES = [
    *((",", ".", ""), (",", ".", ","), (";", ",", "."), (";", ",", ""), ("\t", ".", ""), ("|", ",", " ")),
    *((";", ",", "\u00a0"), ("\t", ".", "'"), (";", ".", ""), ("\t", ",", "")),
]
_DATES = [
    *("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d %b %Y", "%b %d, %Y", "%Y%m%d", "%Y-%m-%dT%H:%M:%S"),
    *("%d.%m.%y", "%m/%d/%Y %I:%M %p", "%Y/%m/%d", "%d-%b-%Y", "%a, %d %b %Y", "%d.%m.%Y %H:%M"),
]
_ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1", "utf-16-le", "utf-8"]
_MISSING = ["", "NA", "n/a", "-", "?", "null", "#N/A", "NaN"]
_UNITS = ["", "€", "$", "", "£"]
_TRUTHS = [("yes", "no"), ("true", "false"), ("TRUE", "FALSE"), ("ja", "nein"), ("Y", "N"), ("oui", "non")]


def corpus() -> list[Nasty]:
    """Tables in which every way of writing occurs several times, in ever other company."""
    made = []
    for k in range(56):
        delimiter, decimal, thousands = _LOCALES[k % len(_LOCALES)]
        encoding, unit = _ENCODINGS[k % len(_ENCODINGS)], _UNITS[k % len(_UNITS)]
        if encoding == "latin-1" and unit == "€":
            unit = "£"
        made.append(
            Nasty(
                encoding=encoding,
                delimiter=delimiter,
                decimal=decimal,
                thousands=thousands,
                unit=unit,
                date=_DATES[(3 * k + k // 14) % len(_DATES)],
                missing=_MISSING[(5 * k + k // 8) % len(_MISSING)],
                quoting=csv.QUOTE_ALL if k % 3 == 1 else csv.QUOTE_MINIMAL,
                header=k % 11 != 5,
                truth=_TRUTHS[k % len(_TRUTHS)],
                line="\r\n" if k % 4 == 2 else "\n",
            )
        )
    return made


def accuracies(n_tables: int = 56) -> None:
    """Print the accuracy in % of ``auto``, all kinds of models, on other rows of each table and of the clean one."""
    from tempfile import TemporaryDirectory

    from thresher import auto
    from thresher.streams import open_stream

    other = truth(2_000, seed=1)

    def accuracy(how: Nasty) -> float:
        with TemporaryDirectory() as folder:
            learn, rest = (Path(folder, name) for name in ("learn.csv", "rest.csv"))
            learn.write_bytes(as_text(truth(), how))
            rest.write_bytes(as_text(other, how))
            model = auto(learn, random_state=0)
            rows = next(iter(open_stream(rest, batch_size=2_000))).X
            return 100 * float(np.mean(model.predict(rows) == np.array(other.left)))

    clean = {header: accuracy(Nasty(header=header)) for header in (True, False)}
    print(f"clean: {clean[True]:.2f}, without a header {clean[False]:.2f}")
    differences = []
    for k, how in enumerate(corpus()[:n_tables]):
        reached = accuracy(how)
        differences.append(reached - clean[how.header])
        print(f"{k:2d} {reached:6.2f} {differences[-1]:+.2f}  {how}", flush=True)
    print(f"largest difference {max(map(abs, differences)):.2f} points over {len(differences)} tables")


if __name__ == "__main__":
    accuracies()
