"""A jail around an agent: it works as always, and cannot reach what guards it."""
