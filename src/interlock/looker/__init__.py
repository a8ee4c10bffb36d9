"""What core must not do: looking at the real machine, without changing it."""
