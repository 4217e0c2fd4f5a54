"""What a report says: every section from numbers that can be checked."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import metrics
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

from report import examples
from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier
from thresher.plotting import recent_rate
from thresher.preprocessing import prepared
from thresher.report import Report, _maps
from thresher.report import _weight_section as _sparsity
from thresher.report._subject import Subject
from thresher.streams import Table
from thresher.training._records import HeldOut, History


def sections(**given):
    return Report(**given).to_dict()["sections"]


# --- which sections there are ----------------------------------------------------------------------------------------


def test_a_section_with_nothing_to_show_is_left_out():
    X, y = examples.several()["sample"]
    assert list(sections(model=AROWClassifier(r=1.0, random_state=0).fit(X, y))) == ["asked", "model", "features"]


@pytest.mark.parametrize(
    "example, expected",
    [
        (
            "binary",
            "asked data model measures confusion decision_values ranking decisions probabilities features "
            "explained_rows sparsity regions map stream race tuning reproduce",
        ),
        (
            "several",
            "asked model measures confusion decision_values ranking probabilities features "
            "explained_rows sparsity map race",
        ),
        ("values", "asked model measures residuals features explained_rows sparsity stream race"),
        ("clusters", "asked model clusters profiles features objective map"),
    ],
)
def test_each_task_has_its_sections(example, expected):
    assert list(sections(**examples.EVERY[example]())) == expected.split()


@pytest.mark.parametrize("example", examples.EVERY)
def test_every_section_opens_with_a_sentence(example):
    for section in sections(**examples.EVERY[example]()).values():
        assert section["title"]
        assert section["says"].endswith((".", "?"))
        assert "nan" not in section["says"]


@pytest.mark.parametrize("example", examples.EVERY)
def test_everything_is_plain_json(example):
    found = Report(**examples.EVERY[example]()).to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize("example", examples.EVERY)
def test_the_same_report_twice_is_the_same(example):
    first, second = (Report(**examples.EVERY[example]()) for _ in range(2))
    assert first.to_dict() == second.to_dict()
    assert first.to_html() == second.to_html()


# --- held-out rows ---------------------------------------------------------------------------------------------------


def test_measures_are_those_of_the_held_out_rows():
    given = examples.binary()
    rows = given["held_out"]
    found = sections(**given)["measures"]
    wrong = np.count_nonzero(rows.y != rows.predicted)
    assert found["measures"]["error"]["value"] == pytest.approx(wrong / len(rows.y))
    assert found["measures"]["AUROC"]["value"] == pytest.approx(metrics.roc_auc_score(rows.y == "spam", rows.scores))
    assert found["guesses"]["error"] == pytest.approx(np.mean(rows.y == "spam"))


def by_share(share: float, predict) -> dict:
    """A report of 400 rows of which a share is spam, and of these answers."""
    given = examples.binary() | {"sample": None}
    y = np.where(np.arange(400) < round(400 * share), "spam", "ham")
    given["held_out"] = HeldOut("test.csv", y, predict(y == "spam"), np.where(y == "spam", 1.0, -1.0))
    return given


def test_classes_of_similar_size_are_summed_up_by_the_error_beside_that_of_a_guess():
    says = sections(**by_share(0.2, lambda rare: np.where(rare, "spam", "ham")))["measures"]["says"]
    assert says.startswith("The model is wrong on 0 % of rows (between 0 % and ")
    assert (
        "guessing the most frequent class, 'ham', would be wrong on 20.0 %, because only 1 row in 5 is 'spam'" in says
    )


@pytest.mark.parametrize("share, rare", [(0.16, False), (0.14, True), (0.01, True)])
def test_a_rare_class_is_what_the_headline_is_about(share, rare):
    n_rare = round(400 * share)
    answers = np.full(400, "ham", dtype=object)
    answers[: n_rare // 2] = answers[-3:] = "spam"
    found = Report(**by_share(share, lambda _: answers)).to_dict()
    says, tiles = found["summary"]["says"], [tile["label"] for tile in found["summary"]["tiles"]]
    assert (found["sections"]["measures"]["rare class"] is not None) == rare
    if not rare:
        assert says.startswith("The model is wrong on")
        assert tiles[0] == "Error"
        return
    half = n_rare // 2
    assert says.startswith(f"The model finds {half} of {n_rare} rows of class 'spam' ({100 * half / n_rare:.1f} %")
    assert f"with 3 false alarms among {400 - n_rare} other rows" in says
    assert f"{100 * half / (half + 3):.1f} % are right, against" in says
    assert "guess" not in says
    assert tiles[:3] == ["Recall of 'spam'", "Precision", "Average precision"]


@pytest.mark.parametrize("rare", ["ham", "spam"])
def test_curves_are_those_of_the_rare_class_whether_it_is_the_first_or_the_second(rare):
    rng = np.random.default_rng(0)
    is_rare = np.arange(400) < 30
    evidence = rng.normal(size=400) + 1.5 * is_rare
    other = "spam" if rare == "ham" else "ham"
    y, predicted = (np.where(each, rare, other).astype(object) for each in (is_rare, evidence > 1))
    scores = evidence - 1 if rare == "spam" else 1 - evidence
    chance = 1 / (1 + np.exp(-scores))
    held_out = HeldOut("test.csv", y, predicted, scores, probabilities=np.stack([1 - chance, chance], axis=1))
    found = Report(**examples.binary() | {"sample": None, "held_out": held_out}).to_dict()
    precise = metrics.average_precision_score(is_rare, evidence)
    assert found["sections"]["measures"]["measures"]["average precision"]["value"] == pytest.approx(precise)
    assert found["sections"]["measures"]["guesses"]["average precision"] == pytest.approx(30 / 400)
    assert [curve["class"] for curve in found["sections"]["ranking"]["curves"]] == [rare]
    assert f"To find 80 % of the rows of class '{rare}'" in found["sections"]["ranking"]["says"]
    assert found["sections"]["probabilities"]["class"] == rare
    assert found["sections"]["decisions"]["class"] == rare
    assert [tile["label"] for tile in found["summary"]["tiles"]][2] == "Average precision"


def test_a_model_that_finds_nothing_of_a_rare_class_is_called_so():
    says = sections(**by_share(0.1, lambda rare: np.full(400, "ham")))["measures"]["says"]
    assert "finds 0 of 40 rows" in says
    assert says.endswith("with no false alarm among 360 other rows. It never predicts 'spam'.")
    says = sections(**by_share(0.1, lambda rare: np.full(400, "spam")))["measures"]["says"]
    assert "finds 40 of 40 rows" in says
    assert says.endswith("10.0 % are right, no clear gain over rows picked at random (10.0 %).")
    says = sections(**by_share(0.1, lambda rare: np.where(rare & (np.arange(400) > 9), "ham", "spam")))["measures"][
        "says"
    ]
    assert "2.7 % are right, fewer than of rows picked at random (10.0 %)." in says


def test_the_rarest_of_several_classes_comes_after_the_mean_over_them():
    model = AROWClassifier(random_state=0).fit(np.eye(3), ["a", "b", "c"])
    y = np.repeat(["a", "b", "c"], [500, 480, 20])
    predicted = y.copy()
    predicted[-5:] = "a"
    predicted[:4] = "c"
    says = sections(model=model, held_out=HeldOut("x", y, predicted))["measures"]["says"]
    mean = np.mean([496 / 500, 1, 15 / 20])
    assert says.startswith(f"On average over the classes, the model finds {100 * mean:.1f} % of the rows of a class")
    assert "a guess would find 33.3 %." in says
    assert says.endswith("with 4 false alarms among 980 other rows.")
    assert "Of the rarest, 'c', it finds 15 of 20 rows (75.0 %" in says
    even = np.repeat(["a", "b", "c"], [40, 30, 20])
    assert sections(model=model, held_out=HeldOut("x", even, even))["measures"]["says"].startswith(
        "The model is wrong on"
    )
    guess = sections(model=model, held_out=HeldOut("x", y, np.full(1000, "a")))["measures"]["says"]
    assert "no clear gain over a guess, which would find 33.3 %" in guess


def test_labels_are_read_as_people_write_them():
    given = examples.binary(labels=(0, 1))
    numbers = sections(**given)
    given["held_out"].y = given["held_out"].y.astype(float)
    given["sample"] = (given["sample"][0], [str(label) for label in given["sample"][1]])
    assert sections(**given) == numbers


def test_a_model_worse_than_a_guess_is_called_so():
    says = sections(**by_share(0.3, lambda rare: np.where(rare, "ham", "spam")))["measures"]["says"]
    assert "which is more than a guess" in says
    assert "finds no" not in says
    says = sections(**by_share(0.3, lambda rare: np.full(400, "ham")))["measures"]["says"]
    assert "which is no clear gain over a guess" in says


def test_a_model_that_errs_more_than_a_guess_and_finds_the_smaller_class_is_told_from_a_useless_one():
    says = sections(**by_share(0.2, lambda rare: np.where(np.arange(400) < 200, "spam", "ham")))["measures"]["says"]
    assert "which is more than a guess" in says
    assert "finds no 'spam', and the model finds 100 % of them" in says
    assert "if every class counts the same, it is wrong on 18.8 % and a guess on 50.0 %." in says


def test_labels_that_the_model_does_not_know_are_errors():
    given = examples.binary()
    given["held_out"].y = np.where(np.arange(len(given["held_out"].y)) % 10 == 0, "what", given["held_out"].y)
    found = sections(**given)
    assert found["confusion"]["classes"] == ["ham", "spam", "what"]
    assert np.array(found["confusion"]["counts"]).sum() == len(given["held_out"].y)
    assert found["measures"]["classes"][2]["recall"]["value"] == 0


def test_labels_that_look_alike_stay_apart():
    long = "x" * 300
    X = np.random.default_rng(0).normal(size=(90, 3))
    y = np.array([long + "a", long + "b", "c"])[X.argmax(axis=1)]
    model = AROWClassifier(random_state=0).fit(X, y)
    found = sections(model=model, sample=(X, y))
    assert len(set(found["confusion"]["classes"])) == 3
    assert np.trace(np.array(found["confusion"]["counts"])) == np.count_nonzero(model.predict(X) == y)


def test_one_class_alone_has_no_ranking():
    given = examples.binary()
    rows = given["held_out"]
    given["held_out"] = HeldOut("x", np.full(len(rows.y), "ham"), rows.predicted, rows.scores)
    found = sections(**given)
    assert "ranking" not in found
    assert found["measures"]["says"].startswith("All rows are of class 'ham'; the model is wrong on ")
    assert "AUROC" not in found["measures"]["measures"]


def test_without_held_out_rows_the_sample_is_measured_and_the_report_says_so():
    given = examples.binary()
    given["held_out"] = None
    found = sections(**given)["measures"]
    assert found["title"] == "Results on the sample"
    assert "may have learned from these rows" in found["note"]


def test_a_kept_sample_of_more_rows_is_said():
    given = examples.binary()
    given["held_out"].n_rows = 5_000_000
    assert (
        "Measured on 5,000,000 rows: test.csv, of which an even sample of 400" in sections(**given)["measures"]["note"]
    )


def test_curves_are_thinned_and_keep_their_area():
    rng = np.random.default_rng(0)
    given = examples.binary()
    y = rng.random(50_000) < 0.1
    scores = rng.normal(size=len(y)) + 1.5 * y
    labels = np.where(y, "spam", "ham")
    given["held_out"] = HeldOut("many", labels, np.where(scores > 0, "spam", "ham"), scores)
    curve = sections(**given)["ranking"]["curves"][0]
    false, true = curve["roc"].values()
    assert len(false) < 320
    assert metrics.auc(false, true) == pytest.approx(metrics.roc_auc_score(y, scores), abs=0.002)
    assert (false[0], true[0], false[-1], true[-1]) == (0, 0, 1, 1)
    recall, precision = curve["pr"].values()
    assert len(recall) < 320
    assert metrics.auc(recall, precision) == pytest.approx(metrics.average_precision_score(y, scores), abs=0.005)


def test_the_ranking_sentence_holds():
    given = examples.binary()
    rows = given["held_out"]
    order = np.argsort(-rows.scores)
    hits = np.cumsum(rows.y[order] == "spam")
    taken = int(np.argmax(hits >= 0.8 * hits[-1])) + 1
    says = sections(**given)["ranking"]["says"]
    assert f"look at the {100 * taken / len(rows.y):.1f} % with the highest score" in says
    assert f"score: {100 * hits[taken - 1] / taken:.1f} % of those are right" in says


def test_many_classes_show_the_largest_curves_and_the_most_confused_cells():
    given = examples.several(n_classes=25, n=1500)
    found = sections(**given)
    assert len(found["ranking"]["curves"]) == 12
    assert "The 12 largest of 25 classes are shown" in found["ranking"]["says"]
    assert len(found["confusion"]["classes"]) == 20
    assert len(found["measures"]["classes"]) == 25


def test_histograms_hold_every_row_once():
    found = sections(**examples.binary())["decision_values"]
    for shares in found["shares"].values():
        assert sum(shares) == pytest.approx(1)
    assert found["edges"][0] <= 0 <= found["edges"][-1]


def test_value_measures_stand_beside_the_mean():
    given = examples.values()
    rows = given["held_out"]
    found = sections(**given)["measures"]
    expected = metrics.root_mean_squared_error(rows.y, rows.predicted)
    assert found["measures"]["RMSE"]["value"] == pytest.approx(expected)
    assert found["guesses"]["RMSE"] == pytest.approx(np.std(rows.y))
    rows.predicted = rows.predicted + 100
    assert "worse than the mean" in sections(**given)["measures"]["says"]
    assert "100 too high" in sections(**given)["residuals"]["says"]


# --- learning --------------------------------------------------------------------------------------------------------


def test_recent_rates_are_those_of_the_last_fifth():
    rows = np.array([10.0, 20, 40, 41, 80, 100])
    total = np.array([5.0, 8, 12, 12, 16, 17])
    expected = []
    for now, sum_now in zip(rows, total, strict=True):
        before = [(r, s) for r, s in zip(rows, total, strict=True) if r <= 0.8 * now]
        r, s = before[-1] if before else (0, 0)
        expected.append((sum_now - s) / (now - r))
    assert_allclose(recent_rate(rows, total), expected)


def test_the_stream_is_told_file_by_file():
    found = sections(**examples.binary())["stream"]
    history = examples.course()
    assert_allclose(found["so far"], np.array(history.mistakes) / history.rows)
    assert_allclose(found["loss so far"], np.array(history.loss) / history.rows)
    assert [f["error"]["value"] for f in found["files"]] == [0.08, 0.06]
    assert [f["loss"] for f in found["files"]] == [0.18, 0.14]
    assert "still getting better" in found["says"]


def test_a_stream_that_gets_worse_is_called_so():
    given = examples.binary()
    given["history"] = History([1000, 2000, 8000, 10_000], [50, 100, 400, 1000], [1.0] * 4, [1] * 4)
    assert "so the data may have changed" in sections(**given)["stream"]["says"]
    given["history"] = History([1000, 2000, 8000, 10_000], [50, 100, 400, 505], [1.0] * 4, [1] * 4)
    says = sections(**given)["stream"]["says"]
    assert "changed" not in says
    assert "better" not in says


def test_measures_of_a_rare_class_are_told():
    given = examples.binary()
    assert sections(**given)["stream"]["rare class"] is None
    given["history"].positive = "spam"
    given["history"].measures = {
        "rows": [200, 10_000],
        "f1": [0.25, 0.5],
        "roc_auc": [0.7, 0.875],
        "average_precision": [0.3, 0.625],
    }
    found = sections(**given)["stream"]
    assert found["rare class"] == {"class": "spam", **given["history"].measures}
    assert "Of 'spam', the rarer class: F1 0.500, AUROC 0.875, average precision 0.625;" in found["says"]


def test_second_passes_are_confessed():
    given = examples.binary()
    given["history"].files[1]["pass"] = 2
    assert "Rows were read 2 times" in sections(**given)["stream"]["says"]


def test_an_empty_history_or_held_out_set_is_none():
    given = examples.binary()
    empty = np.array([], dtype=str)
    given |= {"history": History(), "held_out": HeldOut("x", empty, empty, np.array([]))}
    assert "stream" not in sections(**given)
    assert sections(**given)["measures"]["title"] == "Results on the sample"


def test_the_tuning_path_finds_the_best_and_counts_failures():
    found = sections(**examples.binary())["tuning"]
    scores = [e["score"] for e in examples.evaluations()]
    assert found["best"]["evaluation"] == int(np.nanargmax(scores)) + 1
    assert found["failed"] == 1
    assert found["evaluations"][3]["score"] is None
    assert found["best so far"] == np.fmax.accumulate(scores).tolist()
    assert found["params"]["alpha"]["kind"] == "log"
    assert found["params"]["loss"] == {"kind": "choice", "values": ["hinge"]}
    assert "20 settings were tried" in found["says"]


def test_a_search_for_the_least_error_shows_errors_as_positive_numbers():
    tried = [{**entry, "criterion": "error"} for entry in examples.evaluations()]
    report = Report(examples.several()["model"], search=tried)
    found = report.to_dict()["sections"]["tuning"]
    errors = [-entry["score"] for entry in tried]
    assert found["measure"] == "error"
    assert found["best"]["value"] == np.nanmin(errors)
    assert f"The lowest error is {100 * np.nanmin(errors):.1f} %" in found["says"]
    assert f"the first setting had {100 * errors[0]:.1f} %" in found["says"]
    text = report.to_text(["tuning"])
    assert any(line.split()[:3] == ["number", "stage", "error"] for line in text.splitlines())
    assert "−" not in text
    assert "Error of each setting" in report.to_html()


def test_a_search_among_several_models_names_them():
    tried = [{**entry, "candidate": f"model {n % 2}"} for n, entry in enumerate(examples.evaluations())]
    report = Report(examples.several()["model"], search=tried)
    best = report.to_dict()["sections"]["tuning"]["best"]
    assert best["model"] == f"model {(best['evaluation'] - 1) % 2}"
    assert (
        f"of number {best['evaluation']} ({best['model']}: alpha = " in report.to_dict()["sections"]["tuning"]["says"]
    )
    assert f"{best['model']}: alpha = " in report.to_text(["tuning"])
    assert f"<td>{best['model']}</td>" in report.to_html()


def test_a_search_that_failed_throughout_says_so():
    tried = [e | {"score": float("nan")} for e in examples.evaluations(3)]
    report = Report(examples.several()["model"], search=tried)
    assert "all of them failed" in report.to_dict()["sections"]["tuning"]["says"]
    assert "all of them failed" in report.to_html()


def test_the_objective_of_a_learner_in_steps_is_told():
    given = examples.clusters()
    found = sections(**given)["objective"]
    assert_allclose(found["objective"], given["model"].objective_history_)


# --- weights ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("example", ["several", "values"])
def test_fewer_features_are_the_model_with_the_other_weights_at_zero(example, layout):
    given = examples.EVERY[example]()
    X, y = given["sample"]
    if example == "several":
        given["model"] = AROWClassifier(random_state=0).fit(X, y)
    model = given["model"]
    found = sections(model=model, sample=(layout(X), y))["sparsity"]
    rows = np.atleast_2d(model.coef_)
    if example == "several":
        order = np.argsort(-(np.abs(rows) / np.sqrt(model.variance_)).max(axis=0))
    else:
        order = np.argsort(-np.abs(rows[0]) * X.std(axis=0))
    for k, error in zip(found["kept"], found["error"], strict=True):
        weights = np.where(np.isin(np.arange(X.shape[1]), order[:k]), rows, 0)
        scores = X @ weights.T + model.intercept_
        if example == "several":
            expected = np.mean(model.classes_[scores.argmax(axis=1)] != y)
        else:
            expected = np.sqrt(np.mean((scores[:, 0] - y) ** 2))
        assert error["value"] == pytest.approx(expected)
    assert found["kept"][0] == 1
    assert found["kept"][-1] == np.count_nonzero(rows.any(axis=0))


def test_models_that_are_not_sums_of_features_have_no_sparsity():
    X, y = examples.several()["sample"]
    found = sections(model=KNeighborsClassifier().fit(X, y), sample=(X, y))
    assert "sparsity" not in found
    assert "features" not in found


def test_constant_columns_count_as_features_in_use():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=100), np.ones(100)])
    model = L1RDAClassifier(alpha=0.001, fit_intercept=False, random_state=0).fit(X, X[:, 0] > 0.5)
    assert model.coef_.all()
    assert sections(model=model, sample=(X, X[:, 0] > 0.5))["sparsity"]["kept"] == [1, 2]


def test_sparse_rows_have_the_spread_of_dense_ones():
    X = np.random.default_rng(0).normal(size=(50, 4)) * (np.arange(4) > 0)
    y = np.arange(50) % 2
    model = AROWClassifier().fit(X, y)
    dense, csr = (Subject(model, rows=(layout(X), y)).sample.scale() for layout in (np.asarray, sparse.csr_array))
    assert_allclose(dense, X.std(axis=0))
    assert_allclose(csr, X.std(axis=0))


def test_wider_rows_than_the_model_are_welcome():
    X = sparse.random_array((60, 30), density=0.3, format="csr", rng=0)
    y = np.arange(60) % 2
    model = AROWClassifier()
    model.partial_fit(X[:, :20], y, classes=[0, 1], grow=True)
    for width in (10, 20, 30):
        assert "sparsity" in sections(model=model, sample=(X[:, :width], y))


def test_directions_are_in_words():
    found = sections(**examples.binary())["features"]["features"]
    assert [f["effect"] for f in found] == ["pushes towards 'spam'"] * 2
    assert found[0]["name"] == "capitals"
    found = sections(**examples.values())["features"]["features"]
    assert [f["effect"] for f in found[:2]] == ["raises the value", "lowers the value"]
    given = examples.several()
    rows = given["model"][-1].coef_
    for f in sections(**given)["features"]["features"]:
        k = np.abs(rows[:, f["index"]]).argmax()
        way = "towards" if rows[k, f["index"]] > 0 else "away from"
        assert f["effect"] == f"pushes {way} 'class {k}'"
        assert f["weights"] == rows[:, f["index"]].tolist()


def test_a_model_without_weights_in_use_has_no_features():
    with pytest.warns(UserWarning, match="no feature is in use"):
        model = L1RDAClassifier(alpha=1e6).fit(np.eye(4), [0, 1, 0, 1])
    found = sections(model=model, sample=(np.eye(4), [0, 1, 0, 1]))
    assert "features" not in found
    assert "It uses 0 features of 4" in found["model"]["says"]


# --- maps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
def test_the_map_of_dense_rows_is_pca_of_standardised_columns(shape):
    Z = np.random.default_rng(0).normal(size=shape) * np.arange(1, shape[1] + 1)
    places, kept = _maps._principal_plane(Z)
    pca = PCA(2, svd_solver="full")
    expected = pca.fit_transform((Z - Z.mean(axis=0)) / Z.std(axis=0))
    assert_allclose(np.abs(places), np.abs(expected), atol=1e-8)
    assert kept == pytest.approx(pca.explained_variance_ratio_.sum())


def test_the_map_of_sparse_rows_is_pca():
    Z = sparse.random_array((80, 1000), density=0.1, format="csr", rng=0)
    places, kept = _maps._principal_plane(Z)
    pca = PCA(2, svd_solver="full")
    expected = pca.fit_transform(Z.toarray())
    assert_allclose(np.abs(places), np.abs(expected), atol=1e-6)
    assert kept == pytest.approx(pca.explained_variance_ratio_.sum())


def test_a_map_of_ten_million_columns_is_drawn_from_those_that_hold_something():
    X = sparse.random_array((200, 10_000_000), density=1e-6, format="csr", rng=0)
    assert _maps._principal_plane(X)[0].shape == (200, 2)


def test_the_map_tells_true_and_predicted():
    given = examples.several()
    X, y = given["sample"]
    found = sections(**given)["map"]
    names = np.array(found["groups"])
    assert names[found["true"]].tolist() == y.tolist()
    assert names[found["predicted"]].tolist() == given["model"].predict(X).tolist()
    wrong = np.count_nonzero(given["model"].predict(X) != y)
    assert f"{wrong} rows differ" in found["says"]


def test_many_groups_share_the_last_colour():
    found = sections(**examples.several(n_classes=12, n=600))["map"]
    assert len(found["groups"]) == 8
    assert found["groups"][-1] == "5 others"
    assert max(found["true"]) == 7


@pytest.mark.parametrize("form", ["array", "frame", "table", "sparse"])
def test_regions_are_what_the_model_answers(form):
    given = examples.binary()
    frame, y = given["sample"]
    X = {"array": frame.to_numpy(), "frame": frame, "sparse": sparse.csr_array(frame.to_numpy())}.get(form)
    if X is None:
        X = Table(list(frame.columns), frame.to_numpy())
        model = prepared(AROWClassifier(), X, scale=True).fit(X, y)
    else:
        model = AROWClassifier(random_state=0).fit(X, y)
    found = sections(model=model, sample=(X, y))["regions"]
    assert found["names"] == (["x1", "x2"] if form in ("array", "sparse") else ["length", "capitals"])
    (left, low), (right, high) = found["low"], found["high"]
    corners = np.array([[left, low], [right, low], [left, high], [right, high]])
    rows = Table(X.columns, corners) if form == "table" else type(X)(corners) if form == "sparse" else corners
    if form == "frame":
        rows = type(X)(corners, columns=X.columns)
    cells = np.array(found["cells"])
    answers = [found["groups"][k] for k in (cells[0, 0], cells[0, -1], cells[-1, 0], cells[-1, -1])]
    assert answers == model.predict(rows).tolist()


@pytest.mark.parametrize("model", [AROWClassifier(random_state=0), KNeighborsClassifier(3)])
def test_the_borders_of_regions_are_where_answers_change(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.array(["a", "b", "c"])[np.column_stack([X, -X.sum(axis=1)]).argmax(axis=1)]
    found = _maps.regions(Subject(model.fit(X, y), rows=(X, y)))
    leads = found["_leads"]
    inside = np.take_along_axis(leads, found["cells"][None], axis=0)[0]
    assert (inside >= 0).all()
    assert ((leads > 0).sum(axis=0) <= 1).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_lead_of_a_class_is_over_the_best_of_the_others(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    model = AROWClassifier(random_state=0).fit(X, np.column_stack([X, -X.sum(axis=1)])[:, :n_classes].argmax(axis=1))
    found = _maps.regions(Subject(model, rows=(X, None)))
    axes = [np.linspace(low, high, 120) for low, high in zip(found["low"], found["high"], strict=True)]
    scores = model.decision_function(np.stack([part.ravel() for part in np.meshgrid(*axes)], axis=1))
    scores = np.stack([-scores, scores], axis=1) if n_classes == 2 else scores
    for k in range(n_classes):
        lead = scores[:, k] - np.delete(scores, k, axis=1).max(axis=1)
        assert_allclose(found["_leads"][k].ravel(), lead)


def test_three_columns_have_no_regions():
    assert "regions" not in sections(**examples.several())


def test_clusters_are_measured():
    given = examples.clusters()
    X, y = given["sample"]
    found = sections(**given)["clusters"]
    labels = given["model"].labels_
    assert list(found["sizes"].values()) == np.bincount(labels).tolist()
    assert found["silhouette"]["value"] == pytest.approx(metrics.silhouette_score(X, labels))
    assert found["agreement"] == pytest.approx(metrics.adjusted_rand_score(y, labels))
    one = found["silhouettes"]["1"]
    assert one == pytest.approx(metrics.silhouette_samples(X, labels)[labels == 1].mean())


def test_clusters_of_other_libraries_and_of_one_row_each_do_not_fail():
    X = np.random.default_rng(0).normal(size=(30, 2))
    found = sections(model=KMeans(3, n_init=1, random_state=0).fit(X), sample=(X, None))
    assert set(found) >= {"clusters", "regions", "map"}
    assert sections(model=KMeans(1, n_init=1).fit(X), sample=(X, None))["clusters"]["silhouette"] is None


# --- the door --------------------------------------------------------------------------------------------------------


def test_large_samples_are_thinned():
    X = np.random.default_rng(0).normal(size=(9000, 2))
    model = AROWClassifier(random_state=0).fit(X, X[:, 0] > 0)
    assert len(sections(model=model, sample=(X, X[:, 0] > 0))["map"]["x"]) == 2000


@pytest.mark.parametrize("X", [[[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], np.eye(3)[:, :2].astype(np.float32)])
def test_small_and_plain_samples_are_welcome(X):
    model = AROWClassifier().fit(X, ["a", "b", "b"])
    for y in (["a", "b", "b"], None):
        Report(model, sample=(X, y)).to_html()
    Report(model, sample=(X[:1], ["a"])).to_html()


def test_refusals_are_one_sentence():
    model = examples.several()["model"]
    with pytest.raises(ValueError, match=r"^Report: sample must be a pair of rows and targets, got ndarray\.$"):
        Report(model, sample=np.eye(3))
    with pytest.raises(NotFittedError):
        Report(AROWClassifier())
    from sklearn.preprocessing import StandardScaler

    with pytest.raises(ValueError, match=r"must be a classifier, a regressor or a clusterer, got StandardScaler\.$"):
        Report(StandardScaler().fit(np.eye(3))).to_dict()


def test_long_reasons_are_told_in_full():
    reason = "because " * 100 + "so."
    found = sections(model=examples.several()["model"], asked={"reasons": [reason]})
    assert found["asked"]["reasons"] == [reason]


def test_the_title_is_the_users_or_made_of_the_files():
    model = examples.several()["model"]
    assert Report(model).title == "AROWClassifier"
    assert Report(model, title="Mine").title == "Mine"
    files = {"files": [{"name": "a.csv"}, {"name": "b.csv"}]}
    assert Report(model, data=files).title == "a.csv and 1 more: AROWClassifier"


def test_a_search_is_reported_by_its_best_model():
    from sklearn.model_selection import GridSearchCV

    X, y = examples.several()["sample"]
    search = GridSearchCV(AROWClassifier(), {"r": [0.1, 1.0]}, cv=2).fit(X, y)
    assert sections(model=search)["model"]["kind"] == "AROWClassifier"


def test_sparsity_words():
    point = _sparsity.Estimate
    said = _sparsity._sparsity_sentence([(1, point(0.3, 0.2, 0.4)), (2, point(0.1, 0.08, 0.12))], "error")
    assert said == "Both features in use reach an error of 10.0 % on the sample; the most important alone, 30.0 %."
    said = _sparsity._sparsity_sentence([(1, point(0.1, 0.08, 0.12)), (2, point(0.1, 0.08, 0.12))], "error")
    assert said.startswith("The most important feature alone reaches an error of 10.0 %")
    assert "only feature in use" in _sparsity._sparsity_sentence([(1, point(0.1, 0.08, 0.12))], "error")
