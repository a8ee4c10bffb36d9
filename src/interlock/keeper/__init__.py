"""Keeping what an action would change, and bringing it back: the one part that writes to the agent's files, as the agent's user."""
