"""Python source -> what running it would do."""

from interlock.core.read.inline.python.read import read_python

__all__ = ["read_python"]
