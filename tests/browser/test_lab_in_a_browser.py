"""The lab in a real Chromium, with real servers, files and runs. ``make test-browser`` installs what it needs."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import signal
import time

import pytest

from browser.first_picture import seconds_until_seen, write_rows
from browser.lab_browser import AXE, CHROMIUM, DRIVER, PATIENCE, BrowserMissing, LabProcess, browser
from web.lab_files import ATTACK, SCRIPT, write_hostile, write_messy


def test_there_is_a_browser():
    """Skipped, with a word, where there is none."""
    pytest.importorskip("selenium", reason="no selenium; make test-browser installs it, and Chromium")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("no Chromium; make test-browser installs it")


@pytest.fixture(scope="module")
def window():
    test_there_is_a_browser()
    with contextlib.ExitStack() as stack:
        try:
            tab = stack.enter_context(browser())
        except BrowserMissing as problem:
            pytest.skip(f"Chromium does not start: {problem}")
        yield tab


@pytest.fixture
def tab(window):
    """The window of the browser, with nothing left of other tests."""
    window.leave()
    return window


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture
def start(tmp_path):
    """Starts a lab in a folder of its own; it ends with the test."""
    token, started = tmp_path / "token", []
    token.write_text(secrets.token_urlsafe(32))
    token.chmod(0o600)
    folder = tmp_path / "lab"
    folder.mkdir()

    def start():
        started.append(LabProcess(folder, token))
        return started[-1]

    yield start
    for lab in started:
        lab.end()


@pytest.fixture(scope="module")
def walked(window, files, tmp_path_factory):
    """A lab in which a messy file was dropped, corrected and learned from; the run is done."""
    folder, token = tmp_path_factory.mktemp("lab"), files / "token"
    token.write_text(secrets.token_urlsafe(32))
    token.chmod(0o600)
    lab, tab = LabProcess(folder, token), window
    try:
        tab.leave()
        tab.driver.get(lab.address_with_token)
        tab.see(".drop")
        tab.drop(write_messy(files / "messy.csv"))
        tab.text("h1", "messy.csv")
        tab.click("[data-key='use:town']")
        tab.see("tr.out", lambda row: "town" in row.text)
        choose(tab, "[data-key='kind:plan']", "number")
        tab.text("#problem", "No row can be read with plan as number")
        tab.errors()  # the refusal is one for the browser
        choose(tab, "[data-key='kind:plan']", "category")
        allow(tab, 3)
        tab.click(".end button")
        tab.see(".plot .dot")
        tab.see("#tab-result")
        yield lab
    finally:
        lab.end()


def choose(tab, selector, value):
    tab.see(selector)
    tab.js(
        "const select = document.querySelector(arguments[0]); select.value = arguments[1];"
        "select.dispatchEvent(new Event('change', {bubbles: true}))",
        selector,
        value,
    )


def allow(tab, seconds):
    """Type how long it may take, and wait until the page has understood it."""
    tab.click("[data-key='max_seconds']")
    tab.driver.switch_to.active_element.send_keys(f"{seconds} s\t")
    command = "return document.querySelector('details pre')?.textContent ?? ''"
    tab.until(lambda: f"--max-seconds {seconds}" in tab.js(command), "the time is not understood")


def number_of_run(tab):
    return tab.js("return location.hash").split("/")[2]


def n_tried(note):
    """How many settings a run says that it has tried."""
    found = re.search(r"(\d+) settings? tried", note.text)
    return int(found[1]) if found else 0


@pytest.mark.slow
def test_a_messy_file_from_drop_to_a_what_if_on_one_row(tab, walked):
    tab.driver.get(walked.address_with_token)
    visit(tab, "run/0001/result")
    assert "The model is wrong on" in tab.text(".lead", "The model is wrong on")
    tab.click("#tab-report")
    tab.driver.switch_to.frame(tab.see("iframe.report"))
    assert "messy.csv" in tab.see("h1").text
    tab.driver.switch_to.default_content()
    tab.click("#tab-why")
    before = tab.text(".answer", "The model answers")
    assert "The file says" in before
    for age, income, plan, expected in ((79, 500, "basic", "yes"), (19, 5000, "pro", "no")):
        for name, value in (("age", age), ("income", income), ("plan", plan)):
            kind = "select" if name == "plan" else "input[type=number]"
            choose(tab, f"[data-column={name}] {kind}", str(value))
        tab.text(".answer", "With these values the model would answer")
        tab.see("#answer", lambda answer, said=expected: answer.text.split()[0] == said)
        if "compares the row with rows" not in tab.see("main").text:  # a model of columns won: it says what each adds
            tab.see("tbody tr", lambda row, shown=f"{income:,}": "income" in row.text and shown in row.text)
    tab.click("#tab-threshold")
    counts = tab.see(".matrix").text
    tab.js("const s = document.querySelector('.wideslider'); s.value = 5; s.dispatchEvent(new Event('input'))")
    assert tab.see(".matrix").text != counts
    tab.click("#tab-take")
    assert "thresher auto messy.csv --target left" in tab.see("pre").text.replace("\\\n   ", "")
    assert len(tab.all("a[download]")) == 4
    assert not tab.errors()


@pytest.mark.slow
def test_a_run_survives_a_reload_and_a_second_tab_and_a_stop_keeps_the_best(tab, start, files):
    lab = start()
    write_messy(lab.folder / "rows.csv", 400)
    tab.driver.get(lab.address_with_token)
    tab.go("file/rows.csv")
    tab.click("[data-key='use:joined']")
    tab.see("tr.out", lambda row: "joined" in row.text)
    tab.driver.refresh()
    tab.see("tr.out", lambda row: "joined" in row.text)  # corrections are kept
    tab.click(".end button")
    assert "so far" in tab.text(".note", "so far")
    tab.see(".plot .dot")
    assert not serious_faults(tab)
    tab.size(360, 740)
    assert tab.js("return document.documentElement.scrollWidth") <= 360
    tab.driver.refresh()
    tab.see(".plot .dot")
    tab.size(1280)
    place, first = tab.driver.current_url, tab.driver.current_window_handle
    tab.driver.switch_to.new_window("tab")
    try:
        tab.driver.get(place)
        tab.see(".plot .dot")
        tab.click(".between .button")
        tab.see("#tab-result")
        tab.driver.close()
    finally:
        tab.driver.switch_to.window(first)
    tab.see("#tab-result")
    number = number_of_run(tab)
    result = json.loads((lab.folder / "thresher-runs" / number / "result.json").read_text())
    assert 1 <= result["n_evaluations"] < 50
    assert (lab.folder / "thresher-runs" / number / "model.thresher").exists()
    lab.wait_for_workers()


@pytest.mark.slow
def test_a_run_goes_on_when_the_server_is_killed_and_again_when_all_is_killed(tab, start, files):
    lab = start()
    write_messy(lab.folder / "rows.csv", 400)
    tab.driver.get(lab.address_with_token)
    tab.go("file/rows.csv")
    tab.click(".end button")
    tab.see(".plot .dot")
    number, (worker,) = number_of_run(tab), lab.workers()
    events = lab.folder / "thresher-runs" / number / "events.jsonl"
    lab.kill()
    lab.start()
    assert lab.workers() == [worker]  # it went on without the server
    n_before = events.read_text().count("measured")
    tab.see(".note", lambda note: n_tried(note) > n_before)  # the page found the server again
    lab.kill()
    os.kill(worker, signal.SIGKILL)
    lab.wait_for_workers()
    known = [json.loads(line) for line in events.read_text().splitlines() if '"measured"' in line]
    lab.start()
    (again,) = lab.workers()
    assert again != worker
    replayed = measured_again(events, len(known))
    tab.click(".between .button")
    tab.see("#tab-result")
    kept = [event["seconds"] for event in known if event["n_used"] is not None]  # others are no searches
    assert [event["seconds"] for event in replayed if event["n_used"] is not None][: len(kept)] == kept  # not measured


def measured_again(events, n):
    """The evaluations since the run was begun again, once there are so many."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        told = [json.loads(line) for line in events.read_text().splitlines()]
        begun = [place for place, event in enumerate(told) if event["event"] == "begin"]
        measured = [event for event in told[begun[-1] :] if event["event"] == "measured"]
        if len(begun) == 2 and len(measured) >= n:
            return measured
        time.sleep(0.1)
    raise AssertionError("the run did not go on")


PAGES = (
    "",
    "file/messy.csv",
    "run/0001/result",
    "run/0001/report",
    "run/0001/why",
    "run/0001/threshold",
    "run/0001/take",
    "compare/0001,0001",
)
READY = {
    "": ".drop",
    "compare": ".compare",
    "file": ".end button",
    "result": ".tiles",
    "report": "iframe",
    "why": "#answer",
    "threshold": ".matrix",
    "take": "pre",
}


def visit(tab, page):
    """Go to a page, and wait until all of it is there."""
    tab.go(page)
    last = page.split("/")[-1] if page.startswith("run") else page.split("/")[0]
    if page.startswith("run"):
        tab.see(f"#tab-{last}[aria-selected=true]")
    tab.see(READY[last])


@pytest.mark.slow
def test_nothing_scrolls_sideways_on_a_phone(tab, walked):
    tab.driver.get(walked.address_with_token)
    tab.size(360, 740)
    for page in PAGES:
        visit(tab, page)
        assert tab.js("return document.documentElement.scrollWidth") <= 360, page


@pytest.mark.slow
def test_colours_follow_the_system_and_the_switch(tab, walked):
    def brightness():
        colour = tab.js("return getComputedStyle(document.body).backgroundColor")
        return sum(map(int, colour.removeprefix("rgb(").rstrip(")").split(",")))

    tab.driver.get(walked.address_with_token)
    tab.scheme("dark")
    visit(tab, "run/0001/report")
    assert brightness() < 150
    tab.driver.switch_to.frame(tab.see("iframe.report"))
    tab.see("h1")
    tab.until(lambda: brightness() < 150, "the report stays light")
    tab.driver.switch_to.default_content()
    tab.click("#theme")
    assert brightness() > 600
    tab.driver.refresh()
    tab.see("iframe.report")
    assert brightness() > 600  # the choice is kept
    tab.js("localStorage.clear()")


@pytest.mark.slow
def test_what_was_measured_on_more_rows_leads(tab, walked):
    tab.driver.get(walked.address_with_token)
    tab.see(".drop")
    leading = tab.driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "import(new URL('words.js', document.querySelector('script[type=module]').src))"
        "  .then(({ leader }) => done(arguments[0].reduce(leader).at))",
        [
            {"at": place, "criterion": "error", "n_rows": n_rows, "value": value}
            for place, (n_rows, value) in enumerate([(2000, 0.3), (2000, 0.1), (9000, 0.2), (9000, 0.15), (9000, 0.18)])
        ],
    )
    assert leading == 3


@pytest.mark.slow
def test_tabs_follow_the_arrow_keys(tab, walked):
    tab.driver.get(walked.address_with_token)
    visit(tab, "run/0001/result")
    tab.see("#tab-result").send_keys("\ue014")  # to the right
    assert tab.js("return document.activeElement.id") == "tab-report"
    assert tab.js("return location.hash").endswith("/report")


@pytest.mark.slow
def test_a_page_that_does_not_exist_says_so(tab, walked):
    tab.driver.get(walked.address_with_token)
    for page, says in (
        ("run/0077", "There is no such run"),
        ("file/none.csv", "There is no such file"),
        ("x/%", "There is no such page"),
    ):
        tab.go(page)
        tab.text("main .lead", says)
    tab.click("main .button")
    tab.see(".drop")


@pytest.mark.slow
def test_the_cost_of_thresholds_is_drawn_as_wide_as_the_window_is(tab, walked):
    tab.driver.get(walked.address_with_token)
    tab.size(360, 740)
    visit(tab, "run/0001/threshold")
    width = "return document.querySelector('.plots svg').getBoundingClientRect().width"
    narrow = tab.js(width)
    tab.size(1280)
    tab.until(lambda: tab.js(width) > 1.2 * narrow, "the plot stays as narrow as it was")


@pytest.mark.slow
def test_axe_finds_no_serious_fault(tab, walked):
    if not AXE.exists():
        pytest.skip("no axe-core; make test-browser fetches it")
    tab.driver.get(walked.address_with_token)
    for scheme in ("light", "dark"):
        tab.scheme(scheme)
        for page in PAGES:
            visit(tab, page)
            assert not serious_faults(tab), (scheme, page)


def serious_faults(tab):
    """What axe-core, if it is there, finds serious or critical on the page."""
    if not AXE.exists():
        return []
    tab.js(AXE.read_text())
    found = tab.driver.execute_async_script(
        "const done = arguments[0]; axe.run(document, {iframes: false}).then((found) => done(found.violations))"
    )
    return [
        (fault["id"], [node["target"] for node in fault["nodes"]][:5])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]


@pytest.mark.slow
def test_a_file_of_half_a_million_values_is_shown_within_ten_seconds(tab, start):
    lab = start()
    write_rows(lab.folder / "rows.csv")
    tab.driver.get(lab.address_with_token)
    tab.see(".drop")
    assert seconds_until_seen(tab, lambda: tab.go("file/rows.csv"), "tbody svg") < 10


@pytest.mark.slow
def test_names_that_are_markup_or_code_run_nothing(tab, start, files):
    lab = start()
    write_hostile(lab.folder / f"{SCRIPT.replace('/', '')}.csv", 80)  # which the folder may hold already
    tab.driver.get(lab.address_with_token)
    assert SCRIPT.replace("/", "") in tab.text(".rows", ".csv")
    tab.drop(write_hostile(files / "hostile.csv", 80))
    tab.text("h1", "hostile.csv")
    assert ATTACK in tab.see("tbody").text
    allow(tab, 2)
    tab.click(".end button")
    tab.see("#tab-result")
    for view in ("report", "why", "threshold", "take", "result"):
        if tab.all(f"#tab-{view}"):
            visit(tab, f"run/{number_of_run(tab)}/{view}")
            tab.settle()  # what might run has run
            assert "thresher lab" in tab.driver.title
            assert not tab.all("main img, main script, main [onerror], main [onmouseover]")
    assert SCRIPT in tab.see("h1").text
    assert not tab.errors()
