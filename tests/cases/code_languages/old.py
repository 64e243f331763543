# -*- coding: utf-8 -*-
import os.path, sys as system
from ..tools import wrap as wrapped, unwrap
from shelves import *
from __future__ import print_function

LIMIT = 3
first, second = 1, 2


@registered("old")
class Printer(Base):
    """Prints labels."""

    speed = 1

    @property
    def ready(self):
        return True

    def _print(self, label, copies=2):
        """Print one."""
        local = 1
        print "label", label
        exec "x = 1"

        def inner():
            raise ValueError, "no"


def main(args):
    for arg in args:
        print >>system.stderr, arg
    try:
        pass
    except IOError, error:
        import json
