"""Installs Interlock's hooks in the files of coding agents, checks them, and sets up a daemon with its own user."""
