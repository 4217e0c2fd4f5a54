"""Model files of strangers: written without the look by which `save_model` refuses what would not load."""

from __future__ import annotations

from typing import Any

import pytest

from thresher.persistence import _model_files, save_model


def save_unsound(model: Any, path: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_model_files, "_check_loads", lambda *_: None)
        save_model(model, path)
