"""Pages and services over HTTP, for this machine unless told otherwise; the extra ``web`` installs what they need."""

from pathlib import Path

from ._guard import Guard as Guard
from ._guard import HttpRefusal as HttpRefusal
from ._guard import RequestLimits as RequestLimits
from ._guard import send_json as send_json
from ._run_server import ServerAddress as ServerAddress
from ._run_server import run_server as run_server
from ._service import ServiceOptions as ServiceOptions
from ._service import serve as serve

__all__: list[str] = []


def run_lab(folder: Path, address: ServerAddress, *, opens: bool = True) -> None:
    """Serve the lab of a folder until Ctrl-C; needs Starlette, which is imported here."""
    from ._lab_app import run_lab as run

    run(folder, address, opens=opens)
