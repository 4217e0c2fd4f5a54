"""How a table is read, corrected from the command line, and kept with the model."""

import pytest
from numpy.testing import assert_array_equal

from nasty_tables import Nasty, as_text, truth
from thresher.cli import main
from thresher.persistence import load_model

HOW = Nasty(encoding="cp1252", delimiter=";", decimal=",", thousands=".", unit="€", date="%d.%m.%Y", missing="k.A.")


@pytest.fixture
def messy(tmp_path):
    path = tmp_path / "messy.csv"
    path.write_bytes(as_text(truth(300), HOW))
    return path


@pytest.fixture
def run(capsys):
    def run(*arguments, code=0):
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) == code
        return capsys.readouterr()

    return run


def test_a_messy_table_from_training_to_predictions(run, messy, tmp_path):
    model = tmp_path / "m.thresher"
    trained = run("train", messy, "--missing", "k.A.", "--model", model)
    assert "The text is read as cp1252; --encoding chooses another encoding." in trained.err
    run("predict", model, messy, "-o", tmp_path / "p.csv")
    lines = (tmp_path / "p.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 301
    right = sum(a == b for a, b in zip(lines[1:], truth(300).left, strict=True))
    assert right > 255


def test_the_same_model_from_the_clean_table(run, messy, tmp_path):
    clean = tmp_path / "clean.csv"
    clean.write_bytes(as_text(truth(300), Nasty()))
    models = []
    for path in (messy, clean):
        model = tmp_path / f"{path.stem}.thresher"
        run("train", path, "--missing", "k.A.", "--model", model)
        models.append(load_model(model))
    assert_array_equal(models[0].coef_, models[1].coef_)
    assert models[0]["encode"].get_feature_names_out().tolist() == models[1]["encode"].get_feature_names_out().tolist()


def test_columns_from_a_yaml_file(run, messy, tmp_path):
    told = tmp_path / "columns.yml"
    told.write_text("missing: [k.A.]\ncolumns:\n  town: drop\n  people: {kind: number, decimal: ',', thousands: '.'}\n")
    model = tmp_path / "m.thresher"
    run("train", messy, "--columns", told, "--model", model)
    assert "town=" not in run("inspect", model).out


@pytest.mark.parametrize(
    "text, message",
    [
        ("[1, 2", "columns.yml: not a readable YAML file"),
        ("decimals: ','", "columns.yml: there is no entry 'decimals'; the entries are target, encoding,"),
        ("columns: 3", "columns.yml: --columns must name each column with its kind, got 3."),
        (
            "columns: {town: {kind: number, decimal: x}}",
            "messy.csv: --columns must say how 'town' is read: --decimal must be",
        ),
        ("", "columns.yml: expected entries such as decimal: ',' or columns: ..., got None."),
    ],
)
def test_wrong_yaml_is_one_sentence(run, messy, tmp_path, text, message):
    told = tmp_path / "columns.yml"
    told.write_text(text)
    result = run("train", messy, "--columns", told, code=2)
    assert message in result.err
    assert result.err.count("\n") == 1


def test_a_header_of_other_columns_is_no_row(run, tmp_path):
    """One without columns of numbers, whose file had a header: where all is text, names could pass for values."""
    path, model = tmp_path / "jobs.csv", tmp_path / "m"
    path.write_text("job,town,rich\n" + "cook,Bern,no\njudge,Rome,yes\n" * 20)
    run("train", path, "--method", "arow", "--model", model)
    other = tmp_path / "other.csv"
    for text in ("colour,size,shape\nred,large,round\nblue,small,flat\n", "colour,size\nred,3\nblue,4\n"):
        other.write_text(text)
        said = run("predict", model, other, code=2).err
        assert said == "thresher: other.csv: the columns 'job' and 'town' that the model needs are missing.\n"
    other.write_text("cook,Bern\njudge,Rome\ncook,Bern\n")  # rows as they were, without names
    assert run("predict", model, other).out.split() == ["prediction", "no", "yes", "no"]


def test_a_file_without_the_target_of_the_others_is_named(run, tmp_path):
    for key, name in ((1, "y"), (2, "z")):
        (tmp_path / f"k={key}").mkdir()
        (tmp_path / f"k={key}" / "a.csv").write_text(f"a,{name}\n1,0\n2,1\n")
    assert run("look", tmp_path, code=2).err == "thresher: a.csv: the target column is missing in this file.\n"
