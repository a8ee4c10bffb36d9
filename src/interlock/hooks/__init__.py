"""Answers the hooks of coding agents, in the daemon and in the client that the hook starts."""
