"""Models in files: one safetensors file of arrays with a JSON header, never pickle.

A file holds data and names, no code. Loading looks the class up in the registry, checks every parameter by the class's
own rules and every array by the fields its learner declares, and refuses anything else in one sentence, before native
code sees it.

========================  =============================================================
:func:`save_model`        write a fitted estimator or pipeline to a file
:func:`load_model`        read it again; learning goes on as if it had never stopped
========================  =============================================================
"""

from ._model_files import load_model, save_model
from ._model_files import model_bytes as model_bytes
from ._rebuilding import tensors_of as tensors_of

__all__ = ["load_model", "save_model"]
