"""Services that are killed while they learn, and requests that nobody should send."""

from __future__ import annotations

import pytest
from tests.web import hostile, hostile_lab, kills
from tests.web.service_process import Service, train_model


def test_a_killed_service_comes_back_with_the_same_model(tmp_path):
    n_rows, n_kills = kills.attack(tmp_path, count=2, seed=1)
    assert n_kills == 2
    assert n_rows > 100


@pytest.mark.slow
def test_a_service_that_is_killed_often_comes_back_with_the_same_model(tmp_path):
    assert kills.attack(tmp_path, count=15, seed=2)[1] == 15


def test_hostile_requests_are_refused_in_a_sentence(tmp_path):
    with Service(train_model(tmp_path), "--learn", tmp_path / "live", "--max-rate", "1e9") as service:
        statuses = hostile.attack(service, count=150, seed=1)
        hostile.check_well(service)
    assert {200, 400, 401, 405} <= set(statuses)
    assert not list(tmp_path.rglob("hacked"))


@pytest.mark.slow
def test_hostile_requests_to_the_lab_are_refused_in_a_sentence(tmp_path):
    statuses = hostile_lab.attack(tmp_path, count=300, seed=1)
    assert {200, 400, 404, 415} <= set(statuses)
