from __future__ import annotations

from thresher import demo


def test_the_demo_shows_four_learners_and_what_they_found(capsys, monkeypatch):
    for name, size in (("N_ROWS", 6_000), ("N_FEATURES", 3_000), ("N_RELEVANT", 20)):
        monkeypatch.setattr(demo, name, size)
    assert demo.main() == 0
    shown = capsys.readouterr().out
    for word in ("AROW", "AROW-K", "Pegasos", "l1-RDA", "of 20", "6,000 rows", "3,000 features"):
        assert word in shown
