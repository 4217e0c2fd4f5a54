"""Model files: what was saved comes back, and nothing else gets in."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest
import safetensors.numpy
from numpy.testing import assert_array_equal

from thresher.confidence import ASCWClassifier
from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier, PAClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import RunningScaler, StreamingPipeline, TableEncoder
from thresher.stochastic import PegasosClassifier
from thresher.streams import Table, Text
from variants import first_batch, models, name_of, rows_for


@pytest.fixture
def saved(tmp_path):
    """A model, its file, and a way to write the file anew with another header or other arrays."""
    X, y = rows_for(AROWClassifier())
    model = first_batch(AROWClassifier(1.0), X, y)
    path = tmp_path / "m.thresher"
    save_model(model, path)
    with safetensors.safe_open(path, framework="numpy") as file:
        whole = json.loads(file.metadata()["thresher"])
    header = whole["model"]
    arrays = safetensors.numpy.load_file(path)

    def write(**changes):
        new = {**arrays, **changes.pop("arrays", {})}
        new = {k: v for k, v in new.items() if v is not None}
        outer = {k: changes.pop(k) for k in ("format", "version", "record") if k in changes}
        text = json.dumps({**whole, **outer, "model": {**header, **changes}})
        path.write_bytes(safetensors.numpy.save(new, metadata={"thresher": text}))
        return path

    return header, arrays, write


def refused(path, words):
    with pytest.raises(ValueError, match=words) as refusal:
        load_model(path)
    assert str(refusal.value).startswith(f"{path.name}: ")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("model", models(), ids=name_of)
def test_a_model_comes_back_with_its_parameters_and_predictions(model, tmp_path):
    X, y = rows_for(model)
    model = first_batch(model, X, y)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert again.get_params() == model.get_params()
    assert_array_equal(again.predict(X), model.predict(X))
    assert [p.name for p in tmp_path.iterdir()] == ["m"]  # no draft is left behind


def test_names_text_labels_and_arrays_of_parameters_come_back(tmp_path):
    import pandas as pd

    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] > 0, "yes", "no")
    model = PegasosClassifier(alpha=np.array([0.1, 0.2, 0.3]), class_weight={"yes": 2.0}, random_state=0).fit(X, y)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.feature_names_in_, model.feature_names_in_)
    assert_array_equal(again.alpha, model.alpha)
    assert again.class_weight == {"yes": 2.0}


def test_what_is_not_fitted_or_not_ours_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="PAClassifier is not fitted"):
        save_model(PAClassifier(), tmp_path / "m")
    with pytest.raises(ValueError, match="int is not an estimator"):
        save_model(3, tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_a_file_that_could_not_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    X, y = rows_for(PAClassifier())
    model = first_batch(PAClassifier(), X, y)
    save_model(model, tmp_path / "m")
    before = (tmp_path / "m").read_bytes()

    def full(_):
        raise OSError("no space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        save_model(model.partial_fit(X, y), tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 100, b"hello", b"\xff" * 8 + b"{}", (10**6).to_bytes(8, "little") + b"{}"], ids=range(5)
)
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(content)
    refused(path, "not a")


def test_a_safetensors_file_of_someone_else_is_refused(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(safetensors.numpy.save({"w": np.zeros(3)}))
    refused(path, "not a model file of thresher")


def test_headers_that_do_not_fit_are_refused(saved):
    header, _, write = saved
    fitted, params = header["fitted"], header["params"]
    for changes, words in (
        ({"format": 3, "version": "9.0"}, "needs thresher 9.0"),
        ({"record": ["no dict"]}, "record must be a dict"),
        ({"class": "os.system"}, "not an estimator"),
        ({"class": "PAClassifier"}, "parameters are not those"),
        ({"params": params | {"r": -1.0}}, "r must be a number above 0"),
        ({"params": params | {"r": "x"}}, "r must be a number above 0"),
        ({"params": params | {"extra": 1}}, "parameters are not those"),
        ({"params": params | {"covariance": "full"}}, "array 'covariance' must be"),
        ({"fitted": {k: v for k, v in fitted.items() if k != "classes_"}}, "attributes are not those"),
        ({"fitted": fitted | {"feature_names_in_": {"text": ["a", 1], "object": True}}}, "must be text"),
        ({"fitted": fitted | {"classes_": {"text": ["a" * 100_000] + ["b"] * 15_000, "object": False}}}, "more room"),
        ({"fitted": fitted | {"n_iter_": "many"}}, "number of passes"),
        ({"fitted": fitted | {"n_features_in_": 3}}, "number of features"),
        ({"fitted": fitted | {"n_features_in_": "9"}}, "n_features_in_ must be an integer"),
        ({"fitted": fitted | {"fit": 1}}, "attributes are not those"),
        ({"fitted": fitted | {"classes_": {"text": ["b", "a", "c"], "object": False}}}, "in order"),
        ({"fitted": fitted | {"classes_": {"text": ["a", "b"], "object": False}}}, "outputs do not fit"),
        ({"n_outputs": 10**12}, "outputs do not fit"),
        ({"sizes": header["sizes"] | {"weight": 10**12}}, "number of features"),
        ({"sizes": header["sizes"] | {"tally": 5}}, "sizes of the state"),
        ({"sizes": None}, "does not describe a model"),
        ({"params": None}, "does not describe a model"),
    ):
        refused(write(**changes), words)


def test_arrays_that_do_not_fit_are_refused(saved):
    _, arrays, write = saved
    coef = arrays["state/coef"]
    for spoiled in (
        None,
        coef[:, :-1].copy(),
        coef.astype(np.float32),
        coef.ravel().copy(),
        np.where(coef == coef.flat[0], np.nan, coef),
        np.where(coef == coef.flat[0], np.inf, coef),
    ):
        refused(write(arrays={"state/coef": spoiled}), "array 'coef' must")
    refused(write(arrays={"state/variance": 0 * coef}), "array 'variance' must hold numbers above 0")
    refused(write(arrays={"state/tally": -arrays["state/tally"]}), "array 'tally' must hold counts")


def table(n):
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(n, 2))
    jobs = Text.from_list([f"job {k}" for k in rng.integers(300, size=n)])
    return Table(["a", "job", "b"], numbers, {"job": jobs}), np.where(numbers[:, 0] > 0, "yes", "no")


@pytest.mark.parametrize("categories", ["onehot", "hash"])
def test_a_pipeline_comes_back_and_goes_on_as_if_never_stopped(tmp_path, categories):
    X, y = table(900)
    encoder = TableEncoder(categories=categories, n_buckets=512)
    whole = StreamingPipeline([("scale", RunningScaler()), ("encode", encoder), ("learn", AROWClassifier())])
    whole.partial_fit(X[:500], y[:500], classes=["no", "yes"])
    whole.record_ = {"layout": {"columns": ["a"]}, "n": 3}
    save_model(whole, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert again.record_ == whole.record_
    assert_array_equal(again.get_feature_names_out(), whole.get_feature_names_out())
    for model in (whole, again):
        model.partial_fit(X[500:], y[500:])
    assert_array_equal(again.coef_, whole.coef_)
    assert_array_equal(again.decision_function(X), whole.decision_function(X))
    save_model(whole, tmp_path / "a")
    save_model(again, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_pipeline_that_is_no_pipeline_is_refused(tmp_path):
    X, y = table(50)
    model = StreamingPipeline([("encode", TableEncoder()), ("learn", AROWClassifier())])
    save_model(model.partial_fit(X, y, classes=["no", "yes"]), tmp_path / "m")
    with safetensors.safe_open(tmp_path / "m", framework="numpy") as file:
        whole = json.loads(file.metadata()["thresher"])
    arrays = safetensors.numpy.load_file(tmp_path / "m")
    steps = whole["model"]["steps"]
    for changed in ([], None, "steps", steps[::-1], [{"name": "p", **whole["model"]}], [steps[0], steps[0]][:1] * 2):
        text = json.dumps({**whole, "model": {"class": "StreamingPipeline", "steps": changed}})
        (tmp_path / "m").write_bytes(safetensors.numpy.save(arrays, metadata={"thresher": text}))
        with pytest.raises(ValueError, match=r"^m: "):
            load_model(tmp_path / "m").predict(X)


def test_files_of_the_first_format_still_load():
    folder = pathlib.Path(__file__).parent / "data"
    model = load_model(folder / "arow-format-1.thresher")
    X = np.random.default_rng(0).normal(size=(40, 3))
    assert model.predict(X[:5]).tolist() == ["c", "c", "a", "c", "b"]
    assert model.coef_[0, 0] == 0.8845646915547234
    assert model.partial_fit(X, model.predict(X)).n_samples_seen_ == 80
    assert load_model(folder / "l1rda-regressor-format-1.thresher").coef_[2] == -0.5280843000276411


@pytest.mark.parametrize("model", [PAClassifier(), ASCWClassifier(batch_size=8), L1RDAClassifier("auto", eta0=1.0)])
def test_files_that_count_the_mistakes_of_each_model_only_still_load(model, tmp_path):
    X, y = rows_for(model)
    save_model(first_batch(model, X, y), tmp_path / "m")  # 64 rows, after which the best model is read
    arrays = safetensors.numpy.load_file(tmp_path / "m")
    with safetensors.safe_open(tmp_path / "m", framework="numpy") as file:
        header = file.metadata()

    def write(**changes):
        new = {**arrays, **{f"state/{name}": array for name, array in changes.items()}}
        some = {name: array for name, array in new.items() if array is not None}
        (tmp_path / "m").write_bytes(safetensors.numpy.save(some, metadata=header))
        return tmp_path / "m"

    loaded = load_model(write(reads=None, n_wrong=None, loss_shift=None))
    before = arrays["state/n_mistakes"][int(arrays["state/reads"][0, 0]), 0]
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.n_mistakes_ == before
    assert loaded.partial_fit(X, y).n_mistakes_ >= before
    for wrong in (-1.0, 0.5, float(len(arrays["state/n_mistakes"]))):
        refused(write(reads=np.full((1, 1), wrong)), "there is no model to be read")
    refused(write(n_wrong=None), "array 'n_wrong' must")


@pytest.mark.parametrize("model", models()[::3], ids=name_of)
def test_flipped_bits_and_cut_files_are_refused_or_harmless(model, tmp_path):
    X, y = rows_for(model)
    save_model(first_batch(model, X, y), tmp_path / "m")
    whole = (tmp_path / "m").read_bytes()
    rng = np.random.default_rng(0)
    for k in range(150):
        spoiled = bytearray(whole)
        if k % 3 == 0:
            spoiled = spoiled[: rng.integers(len(whole))]
        else:
            spoiled[rng.integers(min(len(whole), 2_000 if k % 3 == 1 else len(whole)))] ^= 1 << int(rng.integers(8))
        (tmp_path / "m").write_bytes(spoiled)
        try:
            loaded = load_model(tmp_path / "m")
        except ValueError as error:
            said = str(error)
            assert "\n" not in said
        else:
            if loaded.n_features_in_ == X.shape[1]:
                loaded.predict(X)


def test_parameters_have_permanent_names_in_files(saved, tmp_path, monkeypatch):
    """A class may rename a parameter, and make one that a file does not know of the others."""
    header, _, write = saved
    path = write()
    model = load_model(path)
    assert set(header["params"]) == set(AROWClassifier._file_names().values())
    names = {name: name for name in model.get_params()} | {"r": "inertia"}
    monkeypatch.setattr(AROWClassifier, "_file_names", classmethod(lambda cls: names))
    with pytest.raises(ValueError, match=r"^m.thresher: the parameters are not those of AROWClassifier.$"):
        load_model(path)
    save_model(model.set_params(r=7.0), tmp_path / "new.thresher")
    assert load_model(tmp_path / "new.thresher").r == 7.0
    made = classmethod(lambda cls, params: {**params, "max_iter": int(params["r"]) + 2})
    monkeypatch.setattr(AROWClassifier, "_from_file", made, raising=False)
    assert load_model(tmp_path / "new.thresher").max_iter == 9
