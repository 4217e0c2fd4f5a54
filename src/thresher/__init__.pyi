"""What type checkers see of thresher: rooms and functions that ``__init__.py`` opens when someone enters them."""

# ruff: noqa: I001 (one line per room, not four)
from . import (
    cli as cli,
    cluster as cluster,
    compare as compare,
    confidence as confidence,
    datasets as datasets,
    distributed as distributed,
    dual_averaging as dual_averaging,
    exporting as exporting,
    inspection as inspection,
    kernels as kernels,
    metrics as metrics,
    mkl as mkl,
    novelty as novelty,
    onepass as onepass,
    online as online,
    paths as paths,
    persistence as persistence,
    plotting as plotting,
    preprocessing as preprocessing,
    registry as registry,
    report as report,
    semi_supervised as semi_supervised,
    solvers as solvers,
    stochastic as stochastic,
    streams as streams,
    training as training,
    tuning as tuning,
    wizard as wizard,
)
from ._auto import auto as auto
from ._auto import explain as explain
from .exporting import export as export

__version__: str
