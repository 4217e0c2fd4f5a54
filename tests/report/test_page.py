"""The page: complete in itself, small, and safe whatever labels and names hold."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from report import examples
from report.examples import HOSTILE
from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier
from thresher.report import Report
from thresher.training._records import HeldOut, History

_ALONE = {"meta", "br", "img", "input", "link"}


class Reader(HTMLParser):
    """Every tag with its attributes; complains about tags that do not match."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in _ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module", params=examples.EVERY)
def page(request) -> str:
    return Report(**examples.EVERY[request.param]()).to_html()


def test_the_page_is_well_formed_and_small(page):
    reader = Reader(page)
    assert page.startswith("<!DOCTYPE html>")
    assert len(page.encode()) < 1_000_000
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    for tag, attributes in reader.tags:
        if (attributes.get("href") or "").startswith("#") and tag == "a":
            assert attributes["href"][1:] in ids


def test_the_page_asks_nothing_of_the_network(page):
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    reader = Reader(page)
    assert any((a.get("content") or "").startswith(policy) for tag, a in reader.tags if tag == "meta")
    assert not {"script", "link", "iframe", "object", "embed", "form"} & {tag for tag, _ in reader.tags}
    for _, attributes in reader.tags:
        for name in ("href", "src", "xlink:href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:image/png"))
        assert not any(name.startswith("on") for name in attributes)
    assert "http" not in page.replace("http-equiv", "")
    assert "@import" not in page


def test_the_page_suits_phones_the_dark_and_paper(page):
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page
    assert "@media (prefers-color-scheme: dark)" in page
    assert "@media print" in page


def test_figures_have_names_and_the_colours_of_the_page(page):
    figures = re.findall(r'<svg viewBox="[^"]+" class="chart".*?</svg>', page)
    assert figures
    assert page.count("<figure ") == page.count("<figcaption>") == page.count('role="group" aria-label="')
    for figure in figures:
        ElementTree.fromstring(figure)
        assert "var(--" in figure
        assert "font-family" not in figure
        assert not re.search(r"#[0-9a-f]{6}", re.sub(r'id="[^"]*"|#[mp][0-9a-f]+', "", figure))


def test_ids_in_figures_that_are_alike_mean_the_same(page):
    shapes: dict[str, str] = {}
    for name, shape in re.findall(r'<(?:path|clipPath) id="([^"]+)"(.*?)</?(?:defs|clipPath)>', page):
        assert shapes.setdefault(name, shape) == shape


def test_rows_with_another_answer_are_ringed():
    given = examples.several()
    assert "ringed: another answer than the truth" in Report(**given).to_html()
    X, _ = given["sample"]
    given["sample"] = (X, given["model"].predict(X))
    assert "ringed" not in Report(**given).to_html()


def hostile() -> dict:
    """A report in which everything that anybody can name is hostile."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=[HOSTILE, '$\\frac{$ "><img src=x onerror=alert(1)>'])
    y = np.where(X.to_numpy()[:, 0] + 0.5 * rng.normal(size=200) > 0, HOSTILE, "b'\"&$\\frac{\x1b[31m\u202e\x00")
    model = L1RDAClassifier(alpha=0.01, random_state=0).fit(X, y)
    files = [{"name": HOSTILE, "pass": 1, "rows": 100, "mistakes": 30, "loss": 3.0}] * 2
    measures = {name: [0.5, 0.7] for name in ("f1", "roc_auc", "average_precision")} | {"rows": [100, 200]}
    return {
        "model": model,
        "title": HOSTILE,
        "asked": {
            "command": HOSTILE,
            "python": f"</code></pre>{HOSTILE}",
            "question": HOSTILE,
            "reasons": [HOSTILE],
            "versions": {HOSTILE: HOSTILE},
            "seed": HOSTILE,
        },
        "data": {
            "files": [{"name": HOSTILE, "rows": 3, "bytes": 4}],
            "classes": {HOSTILE: 3, "b": 4},
            "target": HOSTILE,
            "n_rows": 7,
        },
        "history": History([10, 100, 200], [3, 30, 60], [3.0, 20.0, 30.0], [1, 2, 2], files, HOSTILE, measures),
        "held_out": HeldOut(HOSTILE, y, model.predict(X), model.decision_function(X), 200),
        "search": [
            {"stage": HOSTILE, "params": {HOSTILE: HOSTILE, "alpha": 1.0 + i}, "score": 0.5 + i, "n_used": 1.0}
            for i in range(2)
        ],
        "sample": (X, y),
    }


def test_labels_and_names_are_text_and_never_markup():
    page = Report(**hostile()).to_html()
    reader = Reader(page)
    assert not {"script", "img"} & {tag for tag, _ in reader.tags}
    assert "<script" not in page.lower()
    words = "".join(reader.words)
    assert words.count(HOSTILE) > 20  # shown, as text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", page)


def test_hostile_text_reaches_figures_as_text():
    page = Report(**hostile()).to_html()
    figures = re.findall(r'<svg viewBox="[^"]+" class="chart".*?</svg>', page)
    texts = [element.text for figure in figures for element in ElementTree.fromstring(figure).iter("text")]
    assert HOSTILE in texts


def test_hostile_text_is_harmless_in_a_terminal_and_in_json():
    report = Report(**hostile())
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", report.to_text() + report.to_markdown())
    text = json.dumps(report.to_dict(), allow_nan=False, ensure_ascii=False)
    assert "\u202e" not in text
    assert "\\u001b" not in text


def test_lone_surrogates_can_be_written(tmp_path):
    model = AROWClassifier().fit(np.eye(4), ["a\ud800", "b", "a\ud800", "b"])
    for suffix in (".html", ".txt", ".md", ".json"):
        Report(model, title="\ud800", sample=(np.eye(4), model.predict(np.eye(4)))).save(tmp_path / f"r{suffix}")


def test_the_page_stays_small_with_many_classes_features_and_rows():
    given = examples.several(n_classes=20, n=1000)
    rng = np.random.default_rng(0)
    n = 100_000
    classes = given["model"].classes_
    y, scores = rng.integers(0, 20, n), rng.normal(size=(n, 20))
    given["held_out"] = HeldOut("many", classes[y], classes[scores.argmax(axis=1)], scores, 10 * n)
    given["history"] = examples.course(250, tuple(f"file {i}" for i in range(500)))
    given["search"] = examples.evaluations(1000)
    assert len(Report(**given).to_html().encode()) < 1_000_000


# --- files -----------------------------------------------------------------------------------------------------------


def test_the_suffix_decides(tmp_path):
    report = Report(**examples.binary())
    for name in ("a.html", "b.TXT", "c.json"):
        report.save(tmp_path / name)
    assert (tmp_path / "a.html").read_text("utf-8") == report.to_html()
    assert (tmp_path / "b.TXT").read_text("utf-8") == report.to_text()
    assert json.loads((tmp_path / "c.json").read_text("utf-8")) == report.to_dict()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.TXT", "c.json"]


def test_files_are_whole_or_as_they_were(tmp_path, monkeypatch):
    path = tmp_path / "r.html"
    path.write_text("before")
    report = Report(**examples.several())
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        report.save(path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_places_that_cannot_be_are_refused_in_a_sentence(tmp_path):
    report = Report(examples.several()["model"])
    with pytest.raises(
        ValueError, match=r"^Report: path must end in \.html, \.txt, \.md or \.json, got 'report\.pdf'\.$"
    ):
        report.save("report.pdf")
    (tmp_path / "x.html").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        report.save(tmp_path / "x.html")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        report.save(tmp_path / "nowhere" / "r.html")


@pytest.mark.parametrize("package", ["matplotlib", "jinja2"])
def test_a_missing_package_is_named(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    report = Report(**examples.binary())
    with pytest.raises(ImportError, match=rf'needs {package}: pip install "thresher\[lab\]"\.'):
        report.to_html()
    assert report.to_text()


def test_reports_in_text_import_no_plots():
    code = (
        "import sys, numpy as np; from thresher.online import AROWClassifier; from thresher.report import Report\n"
        "m = AROWClassifier().fit(np.eye(4), [0, 1, 0, 1]); Report(m, sample=(np.eye(4), [0, 1, 0, 1])).to_text()\n"
        "assert not {'matplotlib', 'jinja2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_figure_is_left_behind():
    import matplotlib

    def figures() -> list[int]:
        return sys.modules["matplotlib.pyplot"].get_fignums() if "matplotlib.pyplot" in sys.modules else []

    before, drawn = dict(matplotlib.rcParams), figures()
    Report(**examples.several()).to_html()
    assert dict(matplotlib.rcParams) == before
    assert figures() == drawn


# --- a browser -------------------------------------------------------------------------------------------------------

_BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.slow
@pytest.mark.skipif(_BROWSER is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("scheme, background", [(1, (243, 245, 248)), (0, (14, 18, 23))])
def test_a_browser_shows_the_page_by_day_and_by_night(tmp_path, scheme, background):
    from matplotlib.image import imread

    Report(**examples.binary()).save(tmp_path / "r.html")
    options = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"
    subprocess.run(
        [
            _BROWSER,
            *options.split(),
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--blink-settings=preferredColorScheme={scheme}",
            "--window-size=1200,3000",
            f"--screenshot={tmp_path / 'r.png'}",
            (tmp_path / "r.html").as_uri(),
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    pixels = (imread(tmp_path / "r.png")[:, :, :3] * 255).round()
    assert pixels[2, 2].tolist() == list(background)
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 100  # there is something on it


def test_a_search_over_several_methods_draws_parameters_that_the_best_does_not_have():
    """As the black box makes them: the parameters of losing methods are drawn without a mark of the best."""
    X, y = load_iris(return_X_y=True)
    model = AROWClassifier(random_state=0).fit(X, y)
    tried = [{"r": 0.1}, {"r": 1.0}, {"alpha": 0.01}, {"alpha": 0.1}, {"r": 10.0}]
    search = [
        {"evaluation": i, "stage": "annealing", "params": params, "score": -0.1 * i, "n_used": 4, "seconds": 0.1}
        for i, params in enumerate(tried)
    ]
    page = Report(model, search=search).to_html()
    assert "Score by alpha" in page
    assert "Score by r" in page
