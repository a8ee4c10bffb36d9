"""`interlock import`: other guards' files as standing answers; what cannot be said is named, and nothing is weakened in silence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from desk import Desk
from interlock.cli.answer.importing import why_refused
from interlock.cli.answer.importing.formats import ForeignRule, UnknownFormat, read_file
from interlock.cli.main import main
from interlock.config import Config, load_config
from interlock.runtime import rules_of

CLAUDE = {
    "permissions": {
        "allow": ["Bash(npm run test:*)", "Bash(ls)", "Edit(src/**)", "Bash(rm:*)", "mcp__github", "Bash"],
        "deny": ["Read(./.env)", "Bash(curl:*)", "Edit(//etc/**)"],
        "ask": ["Bash(git push:*)"],
        "additionalDirectories": ["../docs/"],
    }
}
CODEX = """
prefix_rule(pattern=["git", ["push", "fetch"]], decision="prompt", justification="network")
prefix_rule(pattern=["terraform", "destroy"], decision="forbidden", justification="ask ops", match=["terraform destroy"])
prefix_rule(pattern=["npm", "run", "lint"], decision="allow")
host_executable(name="git", paths=["/usr/bin/git"])
prefix_rule(pattern=WORDS, decision="allow")
"""
DCG_ALLOWLIST = """
[[allow]]
exact_command = "rm -rf ./build"
reason = "build output"
added_at = "2026-01-08T12:00:00Z"

[[allow]]
rule = "core.git:reset-hard"
reason = "CI"

[[allow]]
pattern = "^npm run build:.*$"
reason = "builds"
risk_acknowledged = true

[[allow]]
exact_command = "git clean -fd"
reason = "long ago"
expires_at = "2020-02-08T12:00:00Z"

[[allow]]
exact_command = "git stash drop"
reason = "in one project"
paths = ["/srv/app"]
"""
DCG_CONFIG = """
[packs]
enabled = ["database.postgresql"]
disabled = ["containers.docker"]

[overrides]
allow = ["docker system prune"]
block = [{ pattern = "deploy\\\\s+--env=prod.*", reason = "use the pipeline" }, { pattern = "(a|b)+c" }]

[agents.claude-code]
additional_allowlist = ["npm run build"]
"""
DCG_PACK = r"""
schema_version: 1
id: mycompany.deploy
destructive_patterns:
  - { name: prod-direct, pattern: 'deploy\s+--env\s*=?\s*prod', severity: critical }
  - { name: wipe, pattern: '^wipe-all\b.*', description: wipes }
safe_patterns:
  - { name: staging, pattern: '^deploy --env=staging$' }
"""
SAFETY_NET = {
    "version": 1,
    "rules": [
        {
            "name": "no-add-all",
            "command": "git",
            "subcommand": "add",
            "block_args": ["-A", "--all", "."],
            "reason": "name files",
        },
        {"name": "no-global", "command": "npm", "block_args": ["-g"], "reason": "no"},
    ],
}
SHELLFIRM_CHECKS = r"""
- from: fs
  test: '^truncate-all\s+.*'
  description: truncates
  id: fs:truncate
- from: git
  test: 'git\s+(push|pull)'
  challenge: Deny
  id: git:any
"""
SHELLFIRM_SETTINGS = "challenge: Math\nincludes: [base, git]\nignores_patterns_ids: ['git:reset']\ndeny_patterns_ids: ['git:force_push']\n"
NAH = "actions: {deploy: block, lang_exec: ask}\nclassify: {deploy: ['fly deploy'], mystery: ['foo bar']}\nsensitive_paths: {'/srv/keys': block}\ntrusted_paths: ['~/builds']\n"

CASES = {
    "settings.json": (json.dumps(CLAUDE), "Claude Code"),
    "default.rules": (CODEX, "Codex execpolicy"),
    "allowlist.toml": (DCG_ALLOWLIST, "dcg"),
    "config.toml": (DCG_CONFIG, "dcg"),
    "pack.yaml": (DCG_PACK, "dcg"),
    ".safety-net.json": (json.dumps(SAFETY_NET), "cc-safety-net"),
    "checks.yaml": (SHELLFIRM_CHECKS, "shellfirm"),
    "settings.yaml": (SHELLFIRM_SETTINGS, "shellfirm"),
    "nah.yaml": (NAH, "nah"),
}
PATTERNS = {
    "settings.json": {
        "deny Read:*/.env", "deny Grep:*/.env", "deny Glob:*/.env", "deny curl *", "deny Edit:/etc/*", "deny Write:/etc/*",
        "deny MultiEdit:/etc/*", "deny NotebookEdit:/etc/*", "ask git push*", "allow npm run test", "allow npm run test *",
        "allow Bash:ls", "allow Bash:rm", "allow rm *", "allow mcp__github__*",
    },
    "default.rules": {
        "ask git push*", "ask git fetch*", "deny terraform destroy*", "allow npm run lint", "allow npm run lint *",
    },
    "allowlist.toml": {"allow rm -rf ./build", "allow npm run build:*"},
    "config.toml": {"allow docker system prune", "deny deploy --env=prod*", "allow npm run build"},
    "pack.yaml": {"deny Bash:wipe-all*", "allow deploy --env=staging"},
    ".safety-net.json": {"deny git add -A*", "deny git add --all*", "deny git add .", "deny npm -g*"},
    "checks.yaml": {"ask truncate-all *"},
    "settings.yaml": set(),
    "nah.yaml": {"deny fly deploy*"} | {
        f"deny {tool}:/srv/keys*" for tool in ("Read", "Grep", "Glob", "Edit", "Write", "MultiEdit", "NotebookEdit")
    },
}  # fmt: skip
LEFT = {
    "settings.json": 3, "default.rules": 2, "allowlist.toml": 3, "config.toml": 3, "pack.yaml": 1, ".safety-net.json": 0,
    "checks.yaml": 1, "settings.yaml": 4, "nah.yaml": 3,
}  # fmt: skip


def rules_in(folder: Path, name: str) -> tuple[str, list[ForeignRule]]:
    path = folder / name
    path.write_text(CASES[name][0])
    return read_file(path)


@pytest.mark.parametrize("name", CASES)
def test_each_guards_file_becomes_patterns_and_the_rest_is_named(name: str, tmp_path: Path) -> None:
    guard, rules = rules_in(tmp_path, name)
    assert guard == CASES[name][1]
    assert {f"{rule.verdict} {pattern}" for rule in rules for pattern in rule.patterns} == PATTERNS[name]
    left = [rule for rule in rules if not rule.patterns]
    assert len(left) == LEFT[name] and all(rule.problem and rule.source for rule in left)


@pytest.mark.parametrize("text", ["{}", "[1, 2", '{"rules": []}', "x = 1"])
def test_a_file_of_no_known_guard_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text(text)
    with pytest.raises(UnknownFormat, match=r"some\.json"):
        read_file(path)


@pytest.mark.parametrize(("name", "form"), [("hostname", "JSON"), ("rules.toml", "TOML"), ("rules.yml", "YAML")])
def test_a_file_that_cannot_be_parsed_is_refused_in_words(tmp_path: Path, name: str, form: str) -> None:
    path = tmp_path / name
    path.write_text("[broken: {")
    with pytest.raises(UnknownFormat, match=rf"{name}: not {form}, which a file of that name would be: [^'\"]"):
        read_file(path)


def test_an_execpolicy_is_read_and_never_run(tmp_path: Path) -> None:
    path = tmp_path / "evil.rules"
    path.write_text(f"prefix_rule(pattern=[open({str(tmp_path / 'made')!r}, 'w').name], decision='allow')\n")
    [rule] = read_file(path)[1]
    assert not rule.patterns and not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "pattern",
    ["rm *", "Bash:rm *", "dd *", "interlock *", "sudo *", "bash *", "Write:*/.claude/*", "pkill *", "rm -rf *"],
)
def test_an_allow_that_reaches_the_forbidden_or_the_guard_is_refused(pattern: str) -> None:
    config = load_config(environ={"XDG_STATE_HOME": "/state", "XDG_CONFIG_HOME": "/none"})
    assert why_refused(pattern, rules_of(config), config)


@pytest.mark.parametrize("pattern", ["npm run test *", "git branch -D tmp/*", "Read:/etc/hosts", "mcp__github__*"])
def test_an_ordinary_allow_is_not(pattern: str) -> None:
    config = Config(store="sqlite:///state")
    assert why_refused(pattern, rules_of(config), config) == ""


@pytest.mark.parametrize("expression", ["(a|b) c", "[ab] c", ".*", "a{2} b", r"rm\s+-[rf]+ x", "a* b"])
def test_an_expression_that_no_pattern_says_is_left(expression: str) -> None:
    rule = ForeignRule("allow", expression).from_regex(expression)
    assert not rule.patterns and rule.problem


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    desk.open()
    yield desk
    desk.stop()


def test_an_import_is_shown_first_and_signed_only_with_save(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "settings.json"
    path.write_text(CASES["settings.json"][0])
    assert main(["import", str(path), "--config", str(desk.config)]) == 0
    said = capsys.readouterr().out
    assert "refused: it would cover `rm -rf /`" in said and "Nothing was saved" in said and "patterns.approve" in said
    answers = [(r"Sign \d+ standing answers\? \[y/N\] ", "y")]
    shown, code = desk.signed("import", str(path), "--save", more=answers)
    assert code == 0 and "Saved: 12 standing answers" in shown, shown
    assert desk.evaluate("curl https://example.com")["decision"] == "block"
    shown, code = desk.signed("import", str(path), "--save")
    assert code == 0 and "saved already" in shown
