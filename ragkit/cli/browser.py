"""Starts the browser UI: Streamlit in a process of its own, by absolute path.

`PYTHONSAFEPATH` keeps the folder in which someone types `ragkit demo` out of the import path: a folder with an `app/`
package of its own would otherwise have that package executed.
"""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from contextlib import closing
from pathlib import Path

from ragkit import bundle
from ragkit.cli import output
from ragkit.errors import EnvironmentFault, WrongUse
from ragkit.settings import Settings

MAX_PORT = 65_535
READY_TRIES = 120
READY_WAIT_S = 0.25


def serve(settings: Settings, *, address: str, port: int, open_browser: bool, query: str = "") -> None:
    """Run the UI until it is stopped.

    Raises: EnvironmentFault `port_in_use`, `browser_stopped`.
    """
    refuse_taken(address, port)
    main = _main_script()
    url = f"http://{address}:{port}/{query}"
    output.complain(bundle.messages().sentence("cli.opening", settings.language, url=url))
    command = [
        *(sys.executable, "-m", "streamlit", "run", str(main)),
        *("--server.address", address, "--server.port", str(port)),
        *("--server.headless", "true"),  # else its first start asks for an e-mail address and waits
        *("--browser.gatherUsageStats", "false"),
    ]
    environment = {**os.environ, **settings.to_env(), "PYTHONSAFEPATH": "1"}
    running = subprocess.Popen(command, env=environment, cwd=main.parent.parent, stdout=subprocess.DEVNULL)
    if open_browser and _has_screen():
        threading.Thread(target=_open_when_ready, args=(url, address, port), daemon=True).start()
    try:
        status = running.wait()
    except KeyboardInterrupt:
        running.terminate()
        running.wait(timeout=10)
        raise
    if status not in (0, 130, -2, -15):
        raise EnvironmentFault("browser_stopped", status=status)


def _main_script() -> Path:
    import app

    return Path(app.__path__[0]).resolve() / "main.py"


def _has_screen() -> bool:
    """Whether a window can be opened; without one the terminal would be taken by a text browser."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _open_when_ready(url: str, address: str, port: int) -> None:
    for _ in range(READY_TRIES):
        time.sleep(READY_WAIT_S)
        with closing(socket.socket(_family(address))) as probe:
            if probe.connect_ex((address, port)) == 0:
                webbrowser.open(url)
                return


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def refuse_taken(address: str, port: int) -> None:
    """Raise where something listens already, before the long part of a command.

    Raises: EnvironmentFault `port_in_use`; WrongUse `port_invalid`, `address_invalid`.
    """
    if not 1 <= port <= MAX_PORT:
        raise WrongUse("port_invalid", port=port)
    if not address.strip():  # would be every address of the machine
        raise WrongUse("address_invalid", address=address, problem="it is empty")
    with closing(socket.socket(_family(address))) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except (OSError, UnicodeError, ValueError) as refused:  # an address may be no name at all
            if isinstance(refused, OSError) and refused.errno == errno.EADDRINUSE:
                raise EnvironmentFault("port_in_use", address=address, port=port) from refused
            problem = (refused.strerror if isinstance(refused, OSError) else None) or "that is no address"
            raise WrongUse("address_invalid", address=address, problem=problem) from refused
