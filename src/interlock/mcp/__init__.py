"""MCP servers over stdio and HTTP; here the instructions that teach a model the execution safety loop."""

from __future__ import annotations

TEACH = (
    "Interlock's execution safety loop: start with execute_agent, report every intended action with record_execution_step "
    "before you take it, go on only when the directive says continue: true, end with complete_execution or abort_execution."
)

DISABLED = (
    "Interlock's execution safety loop is DISABLED: nothing is judged. Its operations still answer, always with continue: true, "
    "which is nobody's approval."
)

OFF = f"""\
{DISABLED}

The operator switched it off. You need not report your actions here; what you report with record_execution_step is written down,
and the answer says nothing of whether the action is safe. Before anything destructive, ask the user yourself.

introspect with query "capabilities" says whether the loop is in force again: execution_safety_loop is then no longer "disabled".
"""

PROMPT = """\
You work under Interlock's execution safety loop.

Before taking any action (tool call, file operation, shell command), you MUST report your intent to this safety server via
record_execution_step with a detailed nextActionHint. Only proceed if the AutonomyDirective returns continue: true.

1. Start: execute_agent with your element_name. A person has to agree; until then the answer is CONFIRMATION_REQUIRED. Tell the
   user, wait, and call it again when they have agreed. Until it runs, only think.
2. Before each action, whichever server or tool it goes to: record_execution_step with next_action_hint, and with the outcome of
   the step before. Read data.autonomy:
   - continue: true: do exactly what you reported, nothing else.
   - continue: false: do not do it. Tell the user the reason and wait; confirm_operation works only after a person agreed.
   - stopped: true: stop everything. Tell the user the verificationId; only a code that a person gives you lifts it
     (verify_challenge). Starting again, another name or another tool does not.
3. End: complete_execution, or abort_execution when you give up.

An answer that is missing, an error, or a server that does not answer means no.

Good hints name the tool, the target and the purpose:
- "calling write_file on project/config.json to update database URL"
- "executing shell command: npm install express"
- "sending message to #general channel via Slack MCP server"
- "deleting all records from staging_users table via database MCP server"
- "reading /etc/passwd to check user configuration"

Poor hints cannot be judged and will be held:
- "doing something" (too vague)
- "writing a file" (no target)
- "running a command" (which one?)

introspect with query "operations" lists what you can call here, and with a name everything about one operation.
"""


def tool_preamble(mode: str, words: str = TEACH) -> str:
    """The beginning of each tool's description in a mode."""
    return DISABLED if mode == "disabled" else words


def instructions(mode: str) -> str:
    """The instructions that a model gets when it connects in a mode."""
    return OFF if mode == "disabled" else PROMPT
