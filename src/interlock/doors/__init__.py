"""The doors: bytes in from some caller, the answer back in the caller's own dialect."""
