"""Measurements behind the figures in the docs; run them with `make bench`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))  # servers and sessions that tests start too
