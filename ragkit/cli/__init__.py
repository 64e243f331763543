"""The command line: parse, call, print. `ragkit.cli:main` is the console script.

Results go to stdout, diagnostics to stderr in one line. Exit status: 0 done, 1 a check failed, 2 wrong use, 3 could not
(database, embedder, machine). `app` and `evals` are imported inside the commands that need them.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from types import FrameType

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported; the UI's process inherits it

from typer.exceptions import TyperException

from ragkit import bundle
from ragkit.cli import commands, output
from ragkit.errors import RagkitError
from ragkit.messages import Language


def main() -> None:
    """Run one command and exit with its status."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """The exit status of one command; no traceback unless `--debug` stands among the arguments."""
    output.speak_utf8()
    signal.signal(signal.SIGTERM, _stop)
    debug = "--debug" in arguments
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr)
    if debug:
        logging.getLogger("ragkit").setLevel(logging.DEBUG)
    try:
        status = commands.command_line().main(
            args=[a for a in arguments if a != "--debug"], prog_name="ragkit", standalone_mode=False
        )
        return int(status or 0)
    except RagkitError as error:
        if debug:
            raise
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
    except KeyboardInterrupt:
        return 130
    except Exception as unforeseen:
        if debug:
            raise
        output.complain(f"ragkit stopped with an unexpected {type(unforeseen).__name__}; run it again with --debug.")
        return 3


def _language() -> Language:
    return "ru" if os.environ.get("RAGKIT_LANGUAGE") == "ru" else "en"


def _stop(number: int, frame: FrameType | None) -> None:
    """End as on Ctrl+C, so that an embedded server learns that its client is gone."""
    raise KeyboardInterrupt
