from __future__ import annotations

from thresher import demo
from thresher.training import profile


def test_the_demo_shows_four_learners_and_what_they_found(capsys, monkeypatch):
    for name, size in (("N_ROWS", 6_000), ("N_FEATURES", 3_000), ("N_RELEVANT", 20)):
        monkeypatch.setattr(demo, name, size)
    assert demo.main() == 0
    shown = capsys.readouterr().out
    for word in ("AROW", "AROW-K", "Pegasos", "l1-RDA", "of 20", "6,000 rows", "3,000 features"):
        assert word in shown


def test_the_table_of_the_lab_is_as_messy_as_those_of_people(tmp_path):
    demo.write_customers(tmp_path / "customers.csv", 200)
    found = profile(tmp_path / "customers.csv", target="left", skip_malformed=True)
    kinds = {column.name: column.kind for column in found.columns}
    assert (kinds["id"], kinds["joined"]) == ("identifier", "date D.M.Y")
    assert kinds["income"] == "number, decimal comma"
    assert found.columns[2].missing > 0
    assert set(found.classes) == {"no", "yes"}
