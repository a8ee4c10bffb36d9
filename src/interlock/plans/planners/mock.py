"""A planner without a model: everyday requests by pattern, the same answer each time, everything from the request quoted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from interlock.config.plans import PlannerSettings
from interlock.ports import Planner, PlannerReply, UnknownRequest

_A = r"(?:the |a |an |my |all |all the )?"
_SHOW = r"(?:show|list|print|display|see|give me|what are|what is|what's|tell me)(?: me)? "
_NAME = r"[\"'`]?(?P<name>\S(?:.{0,200}?\S)?)[\"'`]?"


class EverydayRequest(Struct, frozen=True):
    """One kind of request; `{names}` of the command are filled with quoted words of the request."""

    example: str
    pattern: str
    command: str
    explanation: str
    effect: str
    risk: str = "low"
    flags: frozenset[str] = frozenset()
    assumptions: tuple[str, ...] = ()


def _reads(example: str, pattern: str, command: str, explanation: str, *flags: str) -> EverydayRequest:
    return EverydayRequest(example, pattern, command, explanation, "Nothing changes.", "low", frozenset(flags))


def _does(
    example: str, pattern: str, command: str, explanation: str, effect: str, risk: str, *flags: str, assumes: str = ""
) -> EverydayRequest:
    return EverydayRequest(
        example, pattern, command, explanation, effect, risk, frozenset(flags), (assumes,) if assumes else ()
    )


REQUESTS: tuple[EverydayRequest, ...] = (
    _reads("list files", rf"{_SHOW}{_A}files(?: here| in this (?:folder|directory))?", "ls -la", "Lists the files in this folder, hidden ones too.", "files"),
    _reads("show disk space", rf"(?:{_SHOW}|check )?{_A}(?:free )?(?:disk|drive) (?:space|usage)(?: left)?|how much (?:disk )?space is (?:left|free)", "df -h", "Shows how full each disk is."),
    _reads("what takes up space", r"what (?:takes|uses)(?: up)? (?:the |my )?(?:most )?(?:disk )?space(?: here)?|find (?:the )?(?:largest|biggest) (?:folders|directories)", "du -xh --max-depth=1 . | sort -rh | head -n 20", "Adds up the size of each folder here, the largest first.", "files"),
    _reads("find large files", r"find (?:the )?(?:large|largest|big|biggest) files(?: here)?", "find . -xdev -type f -size +100M -exec ls -lh {{}} +", "Lists files of more than 100 MB below this folder.", "files"),
    _reads("where am i", rf"where am i|{_SHOW}(?:current|this|working) (?:folder|directory)", "pwd", "Prints the folder that commands run in."),
    _reads("show running processes", rf"{_SHOW}{_A}(?:running )?processes|what is running", "ps aux", "Lists every process with its owner, processor time and memory."),
    _reads("what uses the most memory", r"what uses (?:the most |so much )?memory|show memory hogs", "ps aux --sort=-%mem | head -n 15", "Lists the processes that use the most memory."),
    _reads("what uses the most cpu", r"what uses (?:the most |so much )?(?:cpu|processor)(?: time)?", "ps aux --sort=-%cpu | head -n 15", "Lists the processes that use the most processor time."),
    _reads("show free memory", rf"(?:{_SHOW}|check )?{_A}(?:free )?memory(?: usage)?|how much memory is (?:left|free)", "free -h", "Shows how much memory is used and free."),
    _reads("what is using port 8080", r"(?:what|who)(?: is|'s) (?:using|on|listening on) port (?P<name>\d{1,5})", "ss -ltnp 'sport = :'{name}", "Lists what listens on that TCP port."),
    _reads("show open ports", rf"{_SHOW}{_A}(?:open|listening) ports", "ss -ltn", "Lists the TCP ports that something listens on."),
    _reads("show my ip address", rf"{_SHOW}{_A}ip(?: address(?:es)?)?", "ip addr show", "Lists the network addresses of this machine."),
    _reads("what time is it", rf"what time is it|{_SHOW}{_A}(?:date|time)", "date", "Prints the date and the time."),
    _reads("how long has this machine been up", rf"how long has (?:this|the|my) (?:machine|computer|system) been (?:up|running)|{_SHOW}uptime|uptime", "uptime", "Says how long the machine has been running, and how busy it is."),
    _reads("git status", rf"git status|{_SHOW}{_A}(?:git |repository )status|what (?:have i|did i) change[d]?", "git status", "Says which files are changed, staged and untracked.", "files"),
    _reads("show my changes", rf"{_SHOW}{_A}(?:git )?(?:changes|diff)", "git diff", "Shows what was changed since the last commit.", "files"),
    _reads("show recent commits", rf"{_SHOW}{_A}(?:recent|last|latest) commits|git log|{_SHOW}{_A}history", "git log --oneline -n 20", "Lists the last twenty commits.", "files"),
    _reads("show branches", rf"{_SHOW}{_A}(?:git )?branches|which branch am i on", "git branch --all --verbose", "Lists the branches, and marks the one that is checked out.", "files"),
    _reads("count lines of python code", r"count (?:the )?lines of (?:python )?code|how many lines of (?:python )?code(?: are there)?", "find . -name '*.py' -not -path './.venv/*' -exec cat {{}} + | wc -l", "Counts the lines of the Python files below this folder.", "files"),
    _reads("find todo comments", r"find (?:all )?todos?(?: comments)?", "grep -rn --exclude-dir=.git TODO .", "Lists the lines that contain TODO.", "files"),
    _reads("show environment variables", rf"{_SHOW}{_A}(?:names of )?environment(?: variables)?", "env | cut -d= -f1 | sort", "Lists the names of the environment variables, not their values."),
    _reads("show running containers", rf"{_SHOW}{_A}(?:running )?(?:docker )?containers", "docker ps", "Lists the containers that run."),
    _reads("show system information", rf"{_SHOW}{_A}(?:system|os) (?:information|version)|uname", "uname -a", "Says which system and which kernel this is."),
    _reads("who is logged in", rf"who is logged in|{_SHOW}{_A}logged[- ]in users", "who", "Lists who is logged in."),
    _reads("ping example.com", r"(?:ping|is) (?P<name>[\w.:-]{1,253}?)(?: (?:up|reachable))?", "ping -c 4 -- {name}", "Sends four packets and waits for the answers.", "network"),
    _reads("search for TODO in files", r"(?:search|grep|look) for [\"'`]?(?P<name>.{1,200}?)[\"'`]?(?: in (?:all |the )?files| here)?", "grep -rn --exclude-dir=.git -e {name} .", "Lists the lines of files below this folder that contain the text.", "files"),
    _reads("find files named report.txt", rf"find {_A}files? (?:named|called) {_NAME}", "find . -name {name}", "Looks for files of that name below this folder.", "files"),
    _reads("show the file notes.txt", rf"(?:show|print|read|cat|open)(?: me)?(?: the| a)? file {_NAME}", "cat -- {name}", "Prints the file.", "files"),
    _reads("count lines in notes.txt", rf"(?:count (?:the )?lines|how many lines are) (?:in|of) {_NAME}", "wc -l -- {name}", "Counts the lines of the file.", "files"),
    _reads("show the last lines of server.log", rf"(?:show|tail)(?: me)? (?:the )?(?:last lines of|end of) {_NAME}", "tail -n 50 -- {name}", "Prints the last fifty lines.", "files"),
    _does("create a folder called reports", rf"(?:create|make) (?:a |the )?(?:new )?(?:folder|directory) (?:named |called )?{_NAME}", "mkdir -p -- {name}", "Makes the folder, and those above it that are missing.", "There is one more folder.", "medium", "files"),
    _does("create a file called notes.txt", rf"(?:create|make) (?:a |an |the )?(?:new |empty )?file (?:named |called )?{_NAME}", "touch -- {name}", "Makes an empty file; one that is there is only touched.", "There is one more file.", "medium", "files"),
    _does("rename a.txt to b.txt", r"rename [\"'`]?(?P<name>.{1,200}?)[\"'`]? (?:to|as) [\"'`]?(?P<other>.{1,200}?)[\"'`]?", "mv -n -- {name} {other}", "Renames it; a file that has the new name already is kept.", "The file has another name.", "medium", "files"),
    _does("move a.txt to backup/", r"move [\"'`]?(?P<name>.{1,200}?)[\"'`]? (?:to|into) [\"'`]?(?P<other>.{1,200}?)[\"'`]?", "mv -n -- {name} {other}", "Moves it; a file that is there already is kept.", "The file is somewhere else.", "medium", "files"),
    _does("copy a.txt to b.txt", r"copy [\"'`]?(?P<name>.{1,200}?)[\"'`]? (?:to|into) [\"'`]?(?P<other>.{1,200}?)[\"'`]?", "cp -rn -- {name} {other}", "Copies it; a file that is there already is kept.", "There is a copy.", "medium", "files"),
    _does("make run.sh executable", rf"make {_NAME} executable", "chmod u+x -- {name}", "Lets you run the file as a program.", "The file's mode changes.", "medium", "files"),
    _does("compress reports into an archive", rf"(?:compress|archive|zip|pack) {_NAME}(?: into an archive)?", "tar -czf archive.tar.gz -- {name}", "Packs it into archive.tar.gz in this folder.", "There is an archive.", "medium", "files", assumes="An archive.tar.gz that is here may be overwritten."),
    _does("install dependencies", r"(?:npm install|install (?:the )?(?:npm |node )?(?:dependencies|packages))", "npm install", "Fetches the packages that package.json names.", "node_modules changes.", "medium", "files", "network", assumes="This is a Node.js project."),
    _does("switch to branch main", r"(?:switch to|check ?out) (?:the )?(?:branch )?[\"'`]?(?P<name>\S{1,200}?)[\"'`]?", "git switch {name}", "Checks the branch out; git refuses where changes would be lost.", "The files are those of another branch.", "medium", "files"),
    _does("create a branch called fix", r"(?:create|make) (?:a |the )?(?:new )?branch (?:named |called )?[\"'`]?(?P<name>\S{1,200}?)[\"'`]?", "git switch -c {name}", "Makes a branch from here and checks it out.", "There is one more branch.", "medium", "files"),
    _does("stop process 4242", r"(?:stop|kill|end) (?:the )?process (?P<name>\d{1,9})", "kill {name}", "Asks the process to end.", "The process ends, if it is yours.", "medium"),
    _does("free some disk space", r"free (?:up )?(?:some )?(?:disk )?space|clean up(?: (?:the|my) disk)?", "du -xh --max-depth=2 \"$HOME/.cache\" | sort -rh | head -n 20", "Shows what caches take up: what can go is for you to say.", "Nothing changes.", "low", "files", assumes="Caches are the first place to look; nothing is deleted."),
    _does("delete the folder build", rf"(?:delete|remove) (?:the )?(?:folder|directory) {_NAME}", "rm -r -- {name}", "Deletes the folder and everything in it.", "The folder is gone; there is no way back.", "high", "files", "destructive"),
    _does("delete the file old.txt", rf"(?:delete|remove) (?:the )?(?:file )?{_NAME}", "rm -- {name}", "Deletes it.", "The file is gone; there is no way back.", "high", "files", "destructive"),
    _does("update the system", r"update (?:the |my )?(?:system|packages)", "sudo apt-get update && sudo apt-get upgrade", "Fetches the newest packages of the system and installs them, after asking.", "Programs of the system change.", "high", "network", "privileges", assumes="This system has apt."),
)  # fmt: skip
NOTICE = "Mock planner: Ollama not connected"
_LONGEST = 1_000  # characters of a request that patterns are tried on


class Mock:
    """Answers the requests of `REQUESTS`; raises UnknownRequest with examples for any other."""

    def plan(self, intent: str, context: Mapping[str, Any]) -> PlannerReply:
        text = " ".join(intent[:_LONGEST].split()).rstrip(".!?")
        for everyday in REQUESTS:
            found = re.fullmatch(everyday.pattern, text, re.IGNORECASE)
            if found:
                words = {name: value for name, value in found.groupdict().items() if value}
                return PlannerReply(_plan(everyday, words), "mock", NOTICE)
        some = "; ".join(everyday.example for everyday in REQUESTS[:6])
        raise UnknownRequest(f"{NOTICE}. It knows everyday requests only, such as: {some}")


def _plan(everyday: EverydayRequest, words: Mapping[str, str]) -> Mapping[str, Any]:
    quoted = {name: _quoted(value) for name, value in words.items()}
    return {
        "command": everyday.command.format(**quoted),
        "explanation": everyday.explanation,
        "assumptions": list(everyday.assumptions),
        "confidence": 0.9 if not words else 0.8,
        "expectedEffect": everyday.effect,
        "risk": everyday.risk,
        "flags": {
            "destructive": "destructive" in everyday.flags,
            "touchesFiles": "files" in everyday.flags,
            "touchesNetwork": "network" in everyday.flags,
            "escalatesPrivileges": "privileges" in everyday.flags,
            "requiresConfirmation": everyday.risk != "low",
        },
    }


def _quoted(value: str) -> str:
    """Quotes one word for the shell; a leading dash becomes a name in this folder, never an option."""
    value = value.strip().strip("\"'`")
    return shlex.quote(f"./{value}" if value.startswith("-") else value)


def open_planner(settings: PlannerSettings, environ: Mapping[str, str]) -> Planner:
    return Mock()
