"""Interlock's hooks in the files of coding agents: what is there, what would change, and the change."""
