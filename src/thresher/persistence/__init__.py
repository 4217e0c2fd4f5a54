"""Saving and loading models: a safetensors file with a JSON header, never pickle.

A file holds data and names, but no code. Loading looks up the class in the registry, and checks every parameter by the
rules of the class and every array by the fields that its learner declares. Anything else raises an error before
compiled code reads it.

========================  =============================================================
:func:`save_model`        write a fitted estimator or pipeline to a file
:func:`load_model`        read it again, to predict or to continue training
========================  =============================================================
"""

from ._model_files import load_model, save_model
from ._model_files import model_bytes as model_bytes
from ._rebuilding import tensors_of as tensors_of

__all__ = ["load_model", "save_model"]
