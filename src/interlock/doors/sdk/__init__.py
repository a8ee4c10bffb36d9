"""The Python door: `from interlock import Gate, AsyncGate, DestructiveGate`."""
