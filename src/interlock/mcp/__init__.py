"""MCP servers over stdio and HTTP; here the instructions that teach a model the execution safety loop."""

from __future__ import annotations

from pathlib import Path

TEACH = (
    "Interlock's execution safety loop: start with execute_agent, report every intended action with record_execution_step "
    "before you take it, go on only when the directive says continue: true, end with complete_execution or abort_execution."
)

DISABLED = (
    "Interlock's execution safety loop is DISABLED: nothing is judged. Its operations still answer, always with continue: true, "
    "which is nobody's approval."
)

PROMPT, _OFF = (Path(__file__).with_name(name).read_text("utf-8") for name in ("prompt.md", "prompt_disabled.md"))


def tool_preamble(mode: str, words: str = TEACH) -> str:
    return DISABLED if mode == "disabled" else words


def instructions(mode: str) -> str:
    return f"{DISABLED}\n\n{_OFF}" if mode == "disabled" else PROMPT
