"""One piece of work in a process of its own: ``python -m benchmarks._alone MODULE FUNCTION JSON``; figures as JSON.

``FUNCTION(**JSON)`` makes the data, loads what is needed, warms up and returns the work, a call without arguments: only
that is timed. Memory is its peak beyond what the process held before.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from ._measure import memory_mb


class Figures(NamedTuple):
    seconds: float
    beyond_mb: float
    answer: Any  # what the work returned


def alone(module: str, function: str, **job: Any) -> Figures:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks._alone", module, function, json.dumps(job)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Figures(*json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    module, function, job = sys.argv[1:]
    work = getattr(import_module(module), function)(**json.loads(job))
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    held, begin = memory_mb("VmRSS"), time.process_time()
    answer = work()
    print(json.dumps([time.process_time() - begin, memory_mb("VmHWM") - held, answer]))


if __name__ == "__main__":
    main()
