"""How hard a run tries: `make test` by what fits into ten minutes, `make fuzz` and `make soak` many times that."""

from __future__ import annotations

import os

EFFORT = int(os.environ.get("EFFORT", "1"))
