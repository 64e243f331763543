"""ragkit: a retrieval engine for a project's documentation and code that gives its reasons.

`ragkit.service.open(settings)` builds the objects; below it is plain data and pure functions, or I/O at the rim.
"""

__version__ = "0.1.0"
