"""Assembles the pages of the documentation site: those of docs/, and the generated ones that the tree does not keep."""

from __future__ import annotations

import contextlib
import io
import shutil
from pathlib import Path

from interlock import agents
from interlock.agents import SCOPES, AgentDialect
from interlock.cli.main import main as interlock

ROOT = Path(__file__).resolve().parents[2]
RULES, AGENTS = Path("reference", "rules.md"), Path("guide", "agents")


def assemble(target: Path) -> None:
    """Writes every page of the site below `target`, which must not exist."""
    shutil.copytree(ROOT / "docs", target)
    (target / RULES).write_text(_rules(), encoding="utf-8")
    (target / AGENTS).mkdir()
    for word in agents.words():
        (target / AGENTS / f"{word}.md").write_text(agent_page(agents.agent(word)), encoding="utf-8")


def _rules() -> str:
    """All rules, as `interlock rules docs` prints them."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert interlock(["rules", "docs"]) == 0
    return out.getvalue()


def agent_page(agent: AgentDialect) -> str:
    """How one agent is guarded: the command, the files it changes, and what its hooks can do."""
    home, project = Path("~"), Path(".")
    lines = [f"# {agent.title}", "", "```sh", f"interlock install {agent.word}", "interlock doctor", "```", ""]
    lines += ["| scope | files | afterwards |", "|---|---|---|"]
    for scope in SCOPES:
        files = agent.places(scope, home, project)
        named = ", ".join(f"`{place.path}`" for place in files) or "has none"
        lines.append(f"| `--{scope}` | {named} | {' '.join(sorted({place.note for place in files if place.note}))} |")
    lines += ["", f"A held call waits at most {agent.limit_seconds:g} s: {agent.title} gives up on its hook then."]
    if agent.posts:
        lines.append("Its hooks can also be HTTP requests (`--http`): faster, but a stopped daemon blocks everything.")
    undo = "can run below the journal" if agent.rewrites else "are not rewritten, so that snapshots alone keep files"
    lines.append(f"Calls of its shell tool {undo}.")
    lines += ["", "[Installing](../install.md), [how hooks answer](../../reference/hooks.md), [undo](../undo.md)", ""]
    return "\n".join(lines)
