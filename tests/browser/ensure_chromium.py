"""Makes sure that a browser for the tests is there: `python -m tests.browser.ensure_chromium`.

An installed Chrome or Chromium is used. Else, on Debian and its kin as root, it is installed from the distribution's
packages; elsewhere playwright downloads its own. Who calls it: README's test command; `installed` serves the tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
APT = (
    ("apt-get", "update"),
    ("apt-get", "install", "-y", "--no-install-recommends", "chromium"),
)
PLAYWRIGHT = (sys.executable, "-m", "playwright", "install", "chromium")


def installed() -> str | None:
    """Path of an installed Chrome or Chromium, else of the one that playwright downloaded; None where there is none."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    found = found or next((place for place in PLACES if Path(place).exists()), None)
    return found or _of_playwright()


def _of_playwright() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if path and Path(path).exists() else None


def main() -> int:
    """0 where a browser is there in the end, else 1 and a sentence on stderr."""
    if installed():
        return 0
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        problem = next((failed for command in APT if (failed := _run(command, environment))), None)
    else:
        problem = _run(PLAYWRIGHT, dict(os.environ))
    if installed():
        return 0
    sys.stderr.write(
        f"No browser for the browser tests: {problem or 'the installed one was not found'}. "
        "Install Chromium or Chrome, so that `chromium` or `google-chrome` is on the PATH, and run this again.\n"
    )
    return 1


def _run(command: tuple[str, ...], environment: dict[str, str]) -> str | None:
    """What went wrong, or None."""
    done = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    return f"`{' '.join(command)}` failed ({lines[-1] if lines else done.returncode})" if done.returncode else None


if __name__ == "__main__":
    sys.exit(main())
