"""Who sits at this terminal? What is asked of a person there, and why it may be an agent's."""

from interlock.terminal.agents import is_agents_terminal
from interlock.terminal.device import Terminal, TerminalError, controlling, read_passphrase
from interlock.terminal.enrolment import EnrolmentError, enrol_first

__all__ = [
    "EnrolmentError",
    "Terminal",
    "TerminalError",
    "controlling",
    "enrol_first",
    "is_agents_terminal",
    "read_passphrase",
]
