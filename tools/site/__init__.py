"""Assembles the pages of the documentation site: those of docs/, and the generated ones that the tree does not keep."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from interlock import agents
from interlock.agents import SCOPES, AgentDialect
from interlock.analysis.programs import (
    DERIVED,
    ObjectEffect,
    PathEffect,
    Payload,
    Printed,
    Program,
    Sending,
    StoreEffect,
)
from interlock.cli.main import COMMANDS as ALL_COMMANDS
from interlock.cli.main import main as interlock
from interlock.server.app import documented_app
from interlock.server.routes import document

ROOT = Path(__file__).resolve().parents[2]
RULES, PATHS, AGENTS = Path("reference", "rules.md"), Path("reference", "http-paths.md"), Path("guide", "agents")
REQUIREMENTS, PROGRAMS = Path("internals", "requirements.md"), Path("reference", "programs.md")
POLICY = Path("reference", "policy.md")
COMMANDS, HOSTILE = Path("reference", "command-help.md"), Path("internals", "hostile.md")
_CALLERS = {"agentToken": "agent", "operatorSession": "operator"}


def assemble(target: Path) -> None:
    """Writes every page of the site below `target`, which must not exist."""
    shutil.copytree(ROOT / "docs", target)
    (target / RULES).write_text(_rules(), encoding="utf-8")
    (target / PATHS).write_text(paths_page(), encoding="utf-8")
    (target / REQUIREMENTS).write_text(_requirements(), encoding="utf-8")
    (target / PROGRAMS).write_text(_programs(), encoding="utf-8")
    (target / POLICY).write_text(
        f"# Every key of a level and a case\n\n{policy_tables()}".replace("](", "](../guide/"), encoding="utf-8"
    )
    (target / COMMANDS).write_text(commands_page(), encoding="utf-8")
    (target / HOSTILE).write_text(_hostile(), encoding="utf-8")
    (target / AGENTS).mkdir()
    for word in agents.words():
        (target / AGENTS / f"{word}.md").write_text(agent_page(agents.agent(word)), encoding="utf-8")


def navigation(pages: Path) -> list[Any]:
    """The pages of the site by shelf, in the order of the start page; generated pages come last on their shelf."""
    parts = re.split(r"^## (.+)$", (pages / "index.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    found: list[Any] = [{"Start": "index.md"}]
    for title, text in zip(parts[1::2], parts[2::2], strict=True):
        folder = pages / title.lower()
        listed = [name for name in dict.fromkeys(re.findall(r"\]\(([\w/-]+\.md)\)", text)) if "/" in name]
        others = sorted({path.relative_to(pages).as_posix() for path in folder.glob("*.md")} - set(listed))
        shelf: list[Any] = [*listed, *others]
        if (agent_pages := sorted((folder / AGENTS.name).glob("*.md"))) != []:
            shelf.insert(1, {"Agents": [path.relative_to(pages).as_posix() for path in agent_pages]})
        found.append({title: shelf})
    return found


def _rules() -> str:
    """All rules, as `interlock rules docs` prints them."""
    return _printed("rules", "docs")


def _printed(*words: str) -> str:
    """The output of a command that succeeds."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert interlock(list(words)) == 0
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


def paths_page() -> str:
    """Every path of the HTTP API, from the routes themselves."""
    found = document(documented_app())
    lines = ["# The paths of the HTTP API", "", "| path | who | what it does | fields |", "|---|---|---|---|"]
    for path, methods in found["paths"].items():
        for method, route in methods.items():
            fields = ", ".join(f"`{name}`" for name in _fields(route, found["components"]["schemas"]))
            lines.append(f"| `{method.upper()} {path}` | {_who(route)} | {route['summary']} | {fields} |")
    return "\n".join([*lines, ""])


def _who(route: Mapping[str, Any]) -> str:
    """The callers of a route, by the credentials that it takes."""
    schemes = {name for one in route.get("security", ()) for name in one}
    return " or ".join(words for name, words in _CALLERS.items() if name in schemes) or "anybody"


def _fields(route: Mapping[str, Any], schemas: Mapping[str, Any]) -> list[str]:
    """The names of a route's parameters and of its body's fields."""
    names = [str(one["name"]) for one in route.get("parameters", ()) if one["in"] != "path"]
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    shape = schemas.get(str(body.get("$ref", "")).rpartition("/")[2], body)
    return names + list(shape.get("properties", ()))


def _requirements() -> str:
    """The obligations that the code cites, as a table."""
    text = (ROOT / "docs" / REQUIREMENTS.with_suffix(".toml")).read_text(encoding="utf-8")
    asked = tomllib.loads(text)["requirements"]
    rows = [f"| {id} | {words} |" for id, words in asked.items()]
    return "\n".join(["# Requirements the code cites", "", "| id | what it asks |", "|---|---|", *rows, ""])


_DESCRIBED = {
    "a program": Program, "`carries`: what it runs": Payload, "`does`: objects": ObjectEffect, "paths of files": PathEffect,
    "`stores`: queues and key-value services": StoreEffect, "`sends`: what others get": Sending, "`prints`: its output": Printed,
}  # fmt: skip
_COMMON = {
    "subcommand": "only behind this subcommand", "any_flag": "only with one of these options", "no_flag": "only without these",
    "traits": "traits that hold always", "name": "what rules call it",
}  # fmt: skip
_FIELD = re.compile(r"    (\w+): .*?(?:  # (.*))?")


def described_keys() -> Iterator[tuple[str, dict[str, str]]]:
    """The keys of a program's description by what they describe, each with the comment of its declaration."""
    for title, kind in _DESCRIBED.items():
        keys, before = {}, ""
        for line in inspect.getsource(kind).splitlines():
            found = _FIELD.fullmatch(line)
            if found and found[1] in kind.__struct_fields__ and found[1] not in DERIVED:
                keys[found[1]] = found[2] or before or _COMMON.get(found[1], "")
            before = line.removeprefix("    # ") if line.startswith("    # ") else ""
        yield title, keys


def _programs() -> str:
    """The keys of a program's description, as tables."""
    lines = ["# Describing a program", "", "How and where: [writing rules](writing-rules.md).", ""]
    for title, keys in described_keys():
        rows = [f"| `{key}` | {words} |" for key, words in keys.items()]
        lines += [f"## {title}", "", "| key | says |", "|---|---|", *rows, ""]
    return "\n".join(lines)


_POLICY_HEADINGS = {
    "level": "key of a level",
    "case": "key of a case",
}


def policy_tables() -> str:
    """Every key of a level and of a case, with its default and its meaning."""
    told = tomllib.loads((ROOT / "docs" / POLICY.with_suffix(".toml")).read_text(encoding="utf-8"))
    lines: list[str] = []
    for name, heading in _POLICY_HEADINGS.items():
        lines += [f"| {heading} | default | means |", "|---|---|---|"]
        for keys, one in told[name].items():
            shown = ", ".join(f"`{key}`" for key in keys.split(", "))
            lines.append(f"| {shown} | {one.get('default', '')} | {one['means']} |")
        lines.append("")
    return "\n".join(lines)


def commands_page() -> str:
    """Every command, as its own `--help` describes it."""
    lines = ["# Every command", ""]
    for word in ALL_COMMANDS:
        lines += [f"## {word}", "", "```", _printed(word, "--help").strip(), "```", ""]
    return "\n".join(lines)


def _hostile() -> str:
    """What an agent with a shell tries, and what becomes of it in each isolation."""
    told = tomllib.loads((ROOT / "docs" / HOSTILE.with_suffix(".toml")).read_text(encoding="utf-8"))
    rows = [
        f"| `{name}` | {one['what']} | {one['plain']} | {one['jailed']} | {one['separate']} |"
        for name, one in told.items()
    ]
    heading = ["| attempt | what it does | plain | jailed | separate |", "|---|---|---|---|---|"]
    return "\n".join(["# The hostile run", "", *heading, *rows, ""])
