"""Refuses an allow that would cover what no pattern may let pass: a forbidden action, or one against the guard itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from interlock.agents import SCOPES, agent, words
from interlock.analysis.assess import judge
from interlock.analysis.programs.load import describe
from interlock.analysis.rules import Rulebook
from interlock.config import Config
from interlock.model import Level, command, tool
from interlock.policy.match_names import match_names
from interlock.policy.patterns import Glob, covers

# Tried in place of each star, and as they are.
_FILLS = (
    "", "/", "~", "-rf /", "-rf ~", "rm -rf /", "-c 'rm -rf /'", "-c \"import shutil; shutil.rmtree('/')\"", "mode disabled",
    "uninstall --all", "pause", "of=/dev/sda", "/dev/sda", "x | sudo bash", "; rm -rf /",
)  # fmt: skip
_PROBES = (
    "rm -rf /", "rm -rf ~", "rm -rf --no-preserve-root /", "mkfs.ext4 /dev/sda1", "dd if=/dev/zero of=/dev/sda", "chmod -R 777 /",
    "interlock mode disabled", "interlock uninstall --all", "interlock pause", "pkill interlock", "systemctl --user stop interlock",
    "rm -rf ~/.local/state/interlock", "rm ~/.claude/settings.json",
)  # fmt: skip
_WRITERS = ("Write", "Edit", "MultiEdit", "NotebookEdit")
_SELF = "self_protection."


def why_refused(pattern: str, rules: Rulebook, config: Config) -> str:
    """The action that an allow must not cover, in a sentence; empty where it covers none."""
    glob = Glob.of(pattern)
    program = glob.body.split()[0]
    if "*" in glob.body and glob.is_command and describe(program).wrapper:
        return f"what {program} runs is judged by itself, so that this would allow nothing or anything"
    for path in _own_paths(config):
        for name in _WRITERS:
            action = tool(name, {"file_path": str(path)})
            if covers((glob,), match_names(action, ())):
                return f"it would let an agent change {path}, which belongs to the guard"
    for text in _texts(glob):
        action = command(text, "/home/user/project")
        judgement = judge(action, rules)
        assessment = judgement.assessment
        guard = any(finding.rule.startswith(_SELF) for finding in assessment.findings)
        if (assessment.level >= Level.FORBIDDEN or guard) and covers((glob,), match_names(action, judgement.facts)):
            what = "acts against the guard itself" if guard else "is forbidden"
            return f"it would cover `{text}`, which {what}"
    return ""


def _texts(glob: Glob) -> Iterator[str]:
    if glob.tool and glob.tool.casefold() != "bash":
        return
    yield from _PROBES
    if glob.tool or glob.is_command:
        for fill in _FILLS if "*" in glob.body else _FILLS[:1]:
            yield " ".join(glob.body.replace("*", fill).split())


def _own_paths(config: Config) -> Iterator[Path]:
    """The files that install and the daemon rely on."""
    home = Path.home()
    yield config.folder / "state.db"
    yield Path(config.path) if config.path else home / ".config" / "interlock" / "interlock.toml"
    for word in words():
        for scope in SCOPES:
            for place in agent(word).places(scope, home, home / "project"):
                yield place.path
