"""The command line: parse, call, print. `ragkit.cli:main` is the console script.

Results go to stdout, diagnostics to stderr in one line. Exit status: 0 done, 1 a check failed, 2 wrong use, 3 could not
(database, embedder, machine), 130 interrupted. `app` and `evals` are imported inside the commands that need them, and
the commands inside `run`: loading them takes a second, and an interruption meanwhile must be no traceback either.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from types import FrameType

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported; the UI's process inherits it

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragkit.messages import Language

INTERRUPTED = 130


def main() -> None:
    """Run one command and exit with its status."""
    try:
        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:  # while the commands were being loaded, or a second time
        sys.exit(INTERRUPTED)


def run(arguments: list[str]) -> int:
    """The exit status of one command; no traceback unless `--debug` stands among the arguments."""
    from typer.exceptions import TyperException

    from ragkit import bundle
    from ragkit.cli import commands, output
    from ragkit.errors import RagkitError, is_interruption

    output.speak_utf8()
    signal.signal(signal.SIGTERM, _stop)
    debug = "--debug" in arguments
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr)
    if not debug:  # what the pool has to say is told by the error that it leads to
        logging.getLogger("psycopg").setLevel(logging.CRITICAL)
    if debug:
        logging.getLogger("ragkit").setLevel(logging.DEBUG)
    try:
        status = commands.command_line().main(
            args=[a for a in arguments if a != "--debug"], prog_name="ragkit", standalone_mode=False
        )
        if status == INTERRUPTED:  # what the parser makes of Ctrl+C
            output.complain(bundle.messages().sentence("cli.interrupted", _language()))
        return int(status or 0)
    except RagkitError as error:
        if debug:
            raise
        if is_interruption(error):
            output.complain(bundle.messages().sentence("cli.interrupted", _language()))
            return INTERRUPTED
        output.complain(bundle.messages().error(error, _language()))
        return error.exit_status
    except TyperException as misused:
        if debug:
            raise
        output.complain(output.usage_problem(misused))
        return 2
    except (BrokenPipeError, SystemExit):  # the parser turns a closed pipe into an exit of its own
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as unforeseen:
        if debug:
            raise
        if is_interruption(unforeseen):
            output.complain(bundle.messages().sentence("cli.interrupted", _language()))
            return INTERRUPTED
        output.complain(f"ragkit stopped with an unexpected {type(unforeseen).__name__}; run it again with --debug.")
        return 3


def _language() -> Language:
    return "ru" if os.environ.get("RAGKIT_LANGUAGE") == "ru" else "en"


def _stop(number: int, frame: FrameType | None) -> None:
    """End as on Ctrl+C, so that an embedded server learns that its client is gone."""
    raise KeyboardInterrupt
