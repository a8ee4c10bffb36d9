"""`interlock codes`: shows the code that frees a paused or blocked agent, once, to the person at this terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interlock.analysis.display_text import Line, StyledText, visible
from interlock.cli.arguments import OPERATOR, Args, argument, flag
from interlock.cli.command import OK, USAGE, CommandError, command, list_rows, say, say_json
from interlock.cli.sign_in import operator_session
from interlock.client import DaemonClient, path_segment
from interlock.identity.terminal import SCREEN_SECONDS, controlling_terminal, show_once
from interlock.local_times import ago

Challenge = Mapping[str, Any]


@command(
    "codes",
    "What waits for a code. One code is shown on a screen of its own and erased after a key, or a minute; it counts once.",
    "interlock codes\ninterlock codes 5f0c\ninterlock codes --list",
    argument("id", "ID", "the challenge, or how its id begins (default: asks)", "", nargs="?"),
    flag("--list", "only list; show no code"),
    OPERATOR,
)
def main(args: Args) -> int:
    """List the open challenges, or show one's code."""
    with operator_session(args) as operator:
        found = list_rows(operator.get("/challenges"), "challenges")
        if args.json:
            say_json(found)
        elif args.list or not found:
            say(_lines(found))
        else:
            _show(operator, _choose_challenge(found, args.id))
    return OK


def _show(operator: DaemonClient, challenge: Challenge) -> None:
    """Show one code on the alternate screen; issues an expired challenge again first."""
    if challenge.get("state") != "open":
        challenge = operator.post(f"/challenges/{path_segment(str(challenge['id']))}/reissue")
    shown = operator.post(f"/challenges/{path_segment(str(challenge['id']))}/reveal")
    with controlling_terminal() as terminal:
        pressed = show_once(terminal, list(_screen(challenge, shown)), SCREEN_SECONDS)
    how = "erased" if pressed else "erased after a minute"
    print(
        f"The code for challenge {challenge['id']} was shown and {how}. It counts once; `interlock codes` makes another."
    )


def _screen(challenge: Challenge, shown: Mapping[str, Any]) -> Iterator[str]:
    yield f"Interlock: a code for {_who(challenge)}"
    yield ""
    yield f"  {_what(challenge)}"
    yield ""
    yield f"  challenge  {challenge['id']}"
    yield f"  code       {shown['code']}"
    yield ""
    yield f"It runs out {ago(shown.get('expiresAt'))} and counts once. Whoever has it frees this agent."
    yield "Any key erases this; so does a minute."


def _choose_challenge(found: Sequence[Challenge], id: str) -> Challenge:
    """The challenge that the argument names; asks where there are several."""
    if id:
        meant = [one for one in found if str(one.get("id", "")).startswith(id.lower())]
        if len(meant) != 1:
            raise CommandError(
                f"{'no' if not meant else 'more than one'} challenge begins with {id!r}; see `interlock codes --list`"
            )
        return meant[0]
    say(_lines(found))
    with controlling_terminal() as terminal:
        typed = (
            terminal.ask("Show the code of which? [1] " if len(found) > 1 else "Show its code? [Enter] ").strip() or "1"
        )
    if not typed.isdecimal() or not 1 <= int(typed) <= len(found):
        raise CommandError("no code was shown", USAGE)
    return found[int(typed) - 1]


def _lines(found: Sequence[Challenge]) -> Iterator[Line]:
    if not found:
        yield (StyledText("Nothing waits for a code."),)
        return
    for number, one in enumerate(found, 1):
        live = one.get("state") == "open"
        runs = f"runs out {ago(one.get('expiresAt'))}" if live else "ran out; a new one is issued when it is shown"
        yield (
            StyledText(f"{number:>3}  "),
            StyledText(str(one.get("id", "")), "heading"),
            StyledText(f"  {runs}", "dim"),
        )
        yield (StyledText(f"     {_what(one)}", "command"),)
        yield (StyledText(f"     {_who(one)}", "dim"),)


def _what(challenge: Challenge) -> str:
    blocked = challenge.get("kind") == "block"
    about = challenge.get("title") or challenge.get("reason") or ""
    return visible(f"{'blocked' if blocked else 'waits to do'}: {about}")[:300]


def _who(challenge: Challenge) -> str:
    agent = challenge.get("agent") or {}
    name = f"{agent['name']} " if agent.get("name") else ""
    return visible(f"{name}({agent.get('principal', '')})")[:300]
