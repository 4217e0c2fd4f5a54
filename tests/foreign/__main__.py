"""scikit-learn's own tests of SGD, passive-aggressive, K-means, multiclass, voting and calibration, with our classes.

``python -m tests.foreign`` runs the test modules of the installed scikit-learn with the classes of ours that
``stand_ins.py`` names, and compares what fails with ``failures.toml``, which has a reason for every failure. It fails
if a test fails that is not listed, and if a listed one passes. ``python -m tests.foreign test_voting`` runs one module,
``--show`` prints the errors of tests that are not listed.
"""

from __future__ import annotations

import argparse
import sys

from tests.foreign.swapped_runs import MODULES, compare, run_module

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.foreign", description=__doc__)
    parser.add_argument("modules", nargs="*", choices=[[], *MODULES], metavar="MODULE", help="the last parts of names")
    parser.add_argument("--show", action="store_true", help="print the errors of failures that are not listed")
    options = parser.parse_args()
    problems = [compare(name, run_module(name), show=options.show) for name in options.modules or MODULES]
    sys.exit(1 if any(problems) else 0)
