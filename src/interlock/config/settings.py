"""Declares the tables of the configuration: type, default, bounds, meaning and what weakens each setting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Struct

from interlock.config.values import absolute_path, collector_url, listen_host, loop_mode, public_url, store_url
from interlock.model import Level
from interlock.policy.policy import Mode
from interlock.problems import Problems
from interlock.schema import says

_LEVELS = {"none": -1, **{level.word: int(level) for level in Level}}
PORT = 7310


class DaemonSettings(Struct, frozen=True):
    host: Annotated[
        str,
        says(
            "where HTTP listens; requests under another `Host` are refused",
            weakened_by="any other address: tokens and passphrases would cross the network in the open, so put a proxy with TLS in front",
            read=listen_host,
        ),
    ] = "127.0.0.1"
    port: Annotated[int, says("the port of HTTP; `0` picks a free one", 0, 65_535)] = PORT
    socket: Annotated[
        str, says("the unix socket, for its owner alone", default="`interlock.sock` in the state folder")
    ] = ""
    workers: Annotated[int, says("threads that decide", 1, 64)] = 8
    agent_hosts: Annotated[
        tuple[str, ...],
        says(
            "`Host` headers under which agents on other machines [ask through a proxy](../guide/teams.md), such as `agents.example.com`;"
            " each request needs a token, and nobody signs in there",
        ),
    ] = ()
    strict_introspection: Annotated[
        bool, says("[MCP introspection](mcp.md#introspection) keeps to the core's closed schemas")
    ] = False


class StoreSettings(Struct, frozen=True):
    url: Annotated[
        str,
        says(
            "where state is kept: [`sqlite:///` and a folder, or `postgresql://…`](configuration.md#the-store)",
            default="`sqlite://` and the state folder",
            read=store_url,
        ),
    ] = ""


class PolicyChoice(Struct, frozen=True):
    use: Annotated[
        str, says("`default`, `headless`, `strict`, `spec`, or [a file](../guide/policies.md)", weakened_by="`spec`")
    ] = "default"


class LoopMode(Struct, frozen=True):
    mode: Annotated[Mode, says("[the mode](../guide/gate.md#the-modes)", weakened_by="any other", read=loop_mode)] = (
        "enforcing"
    )


class NamePatternLists(Struct, frozen=True):
    """The table `[danger_patterns]` (R-19)."""

    dangerous: Annotated[
        tuple[str, ...],
        says("names of operations that are dangerous; added to the shipped ones", default="`force_*`, `purge_*`, …"),
    ] = ()
    forbidden: Annotated[tuple[str, ...], says("the same, forbidden", default="`drop_*`, `wipe_*`, …")] = ()
    safe: Annotated[
        tuple[str, ...],
        says(
            "the same, safe for reading; a name that you list here as a whole (`drop_cache`, `reset_demo_*`) is safe as operation, "
            "tool and hint, whatever it says; what its parameters run still counts",
            default="`get_*`, `list_*`, …",
            weakened_by="a pattern that is too wide",
        ),
    ] = ()
    replace: Annotated[bool, says("these lists instead of the shipped ones", weakened_by="`true`")] = False


class AdapterFileList(Struct, frozen=True):
    files: Annotated[
        tuple[str, ...],
        says(
            "[adapter files](adapters.md#in-the-daemon), relative to this file; one that is missing or broken is an error",
            weakened_by="a file that claims more than it is",
        ),
    ] = ()


class RulePackList(Struct, frozen=True):
    files: Annotated[
        tuple[str, ...],
        says("[rule packs](writing-rules.md) of your own beside the shipped ones, relative to this file"),
    ] = ()


class RequestLimits(Struct, frozen=True):
    requests_per_minute: Annotated[int, says("for each principal; one more is denied", 1, 10_000_000)] = 6_000
    body_bytes: Annotated[int, says("of one request", 65_536, 10_485_760)] = 1_048_576
    long_poll_seconds: Annotated[int, says("the longest wait for a ticket", 1, 600)] = 60
    session_minutes: Annotated[int, says("how long a sign-in over HTTP lasts", 1, 720, weakened_by="a long time")] = 15
    unlock_minutes: Annotated[
        int,
        says(
            "how long a terminal [stays unlocked](../guide/operators.md#unlocking) after a sign-in there; `0`: never",
            0,
            480,
            weakened_by="a long time, where agents run as you",
        ),
    ] = 15
    challenge_seconds: Annotated[  # OOB-08
        int, says("how long a [challenge](../guide/codes.md) waits for its code", 30, 3_600, weakened_by="a long time")
    ] = 300


class AuditSettings(Struct, frozen=True):
    keep_days: Annotated[
        int, says("older records are let go; what is left still proves", 1, 36_500, weakened_by="a short time")
    ] = 400
    checkpoint_minutes: Annotated[int, says("how often the record is signed", 1, 1_440, weakened_by="a long time")] = 15
    expired_share_alert: Annotated[
        float,
        says(
            "the share of tickets that nobody answered from which on an alert is recorded",
            0.01,
            1.0,
            weakened_by="`1.0`",
        ),
    ] = 0.3


class Telemetry(Struct, frozen=True):
    otlp: Annotated[
        str,
        says(
            "an OTLP collector (`http://…`) that the [figures](record.md#figures) are sent to besides `/metrics`; "
            "needs the extra `interlock[otel]`",
            read=collector_url,
        ),
    ] = ""
    interval_seconds: Annotated[int, says("how often", 5, 3_600)] = 60


class LogSettings(Struct, frozen=True):
    level: Annotated[
        Literal["debug", "info", "warning", "error"], says("lines of JSON on stderr, secrets taken out")
    ] = "info"


class HookSettings(Struct, frozen=True):
    wait_seconds: Annotated[
        int,
        says(
            "how long a held call of a [hook](hooks.md) waits for a person, within the agent's own limit",
            0,
            3_600,
            weakened_by="long: the agent stands still meanwhile",
        ),
    ] = 300
    without_daemon: Annotated[
        Literal["none", "safe", "reversible", "destructive", "dangerous"],
        says(
            "the highest level that passes while no daemon answers a hook",
            weakened_by="`destructive` and `dangerous`: whoever stops the daemon is free to destroy",
        ),
    ] = "reversible"
    bypassed: Annotated[
        Literal["block", "note"],
        says(
            "what a call costs that ran and that its hook never asked about; `note` only records and tells it",
            weakened_by="`note`: an agent that goes around its hook goes on",
        ),
    ] = "block"
    start_daemon: Annotated[bool, says("`true`: a hook that finds no daemon starts one")] = False

    @property
    def passes(self) -> int:
        return _LEVELS[self.without_daemon]

    @property
    def warnings(self) -> Iterator[str]:
        if self.passes > Level.REVERSIBLE:
            yield f"hooks.without_daemon: {self.without_daemon} actions pass while no daemon answers"
        if self.bypassed == "note":
            yield "hooks.bypassed: an agent that bypasses its hook is only recorded, and goes on"


class ImpactSettings(Struct, frozen=True):
    inspect: Annotated[
        bool, says("whether the targets of a destructive command are [inspected](../guide/impact.md)")
    ] = True
    exempt: Annotated[
        bool,
        says(
            "whether an inspection that finds no loss lowers the requirement, where the policy says so",
            weakened_by="`true` trusts what the disk shows; `false` asks about everything",
        ),
    ] = True


class SnapshotSettings(Struct, frozen=True):
    enabled: Annotated[
        bool,
        says(
            "whether a [snapshot](../guide/undo.md) of what a command would change is taken first, so that it can be restored",
            weakened_by="`false`: what a snapshot could exempt is asked about",
        ),
    ] = True
    journal: Annotated[
        bool,
        says(
            "whether commands run below the [journal](../guide/undo.md#the-journal), where that is possible: by `interlock run`, "
            "`Gate.run` and plans",
            weakened_by="`false`: what only the journal could bring back is asked about",
        ),
    ] = True
    files: Annotated[int, says("files of one snapshot; what changes more is asked about", 1, 100_000)] = 5_000
    bytes: Annotated[
        int,
        says("their bytes together", 1, 10**11, weakened_by="large: an agent can make its machine copy much"),
    ] = 200_000_000
    ms: Annotated[
        int, says("milliseconds that taking one may last", 10, 10_000, weakened_by="long: the agent waits meanwhile")
    ] = 300
    days: Annotated[
        int,
        says(
            "how long snapshots are kept",
            1,
            3_650,
            weakened_by="long: what was deleted stays readable for this user",
        ),
    ] = 7
    total_bytes: Annotated[
        int,
        says("of all snapshots together, with a daemon of its own user of each user; the oldest go first", 1, 10**13),
    ] = 2_000_000_000
    journal_files: Annotated[
        int,
        says(
            "files that the [journal](../guide/undo.md#the-journal) keeps of one action; what would destroy more is refused by the supervisor",
            1,
            10**8,
        ),
    ] = 200_000
    journal_bytes: Annotated[
        int,
        says(
            "their bytes together",
            1,
            10**14,
            weakened_by="large: an agent can fill the disk up to `undo.free_bytes`",
        ),
    ] = 5_000_000_000
    journal_total_bytes: Annotated[
        int,
        says("of all journaled actions together; none younger than `undo.days` goes to make room", 1, 10**14),
    ] = 20_000_000_000
    free_bytes: Annotated[
        int,
        says(
            "what the disk has to have left after keeping a file",
            0,
            10**14,
            weakened_by="`0`: the journal can fill the disk",
        ),
    ] = 1_000_000_000
    wrap: Annotated[
        bool,
        says(
            "whether hooks let shell calls run below the [journal](hooks.md#calls-below-the-journal), where the agent and its shell allow that",
            weakened_by="`true`: what the journal can restore is not asked about",
        ),
    ] = False


class SeparateSettings(Struct, frozen=True):
    hook_socket: Annotated[
        str,
        says(
            "where agents ask a daemon that has [a user of its own](../guide/system.md); `daemon.socket` is for operators then",
            read=absolute_path,
        ),
    ] = ""
    inspector: Annotated[
        str,
        says(
            "the socket of the helper that reads scripts as the user who asks",
            weakened_by="without it, scripts of these users are not read",
            read=absolute_path,
        ),
    ] = ""
    code: Annotated[
        str,
        says("the folder with the code that only root can change; the hook client is in it", read=absolute_path),
    ] = ""
    users: Annotated[tuple[str, ...], says("users whose agents may ask; goes with `hook_socket`")] = ()
    operators: Annotated[
        tuple[str, ...],
        says("users who besides root may use `daemon.socket`", weakened_by="an agent of theirs reaches the sign-in"),
    ] = ()

    @property
    def on(self) -> bool:
        return bool(self.hook_socket)

    def check(self, problems: Problems) -> None:
        place = "separate", "users"
        if self.on != bool(self.users):
            problems.error(place, "hook_socket and users go together: name the users whose agents may use that socket")
        if "root" in self.users:
            problems.error(place, "agents of root cannot be restricted")


class ConsoleSettings(Struct, frozen=True):
    public_url: Annotated[
        str,
        says(
            "the `https://` name under which people reach the [console](../guide/sign-in.md#from-another-device) from elsewhere; "
            "empty: this device only",
            read=public_url,
        ),
    ] = ""
    idle_minutes: Annotated[
        int,
        says(
            "without a request, after which a browser is signed out",
            1,
            720,
            weakened_by="long: a browser that is left alone stays signed in",
        ),
    ] = 30
    session_hours: Annotated[int, says("after which it is signed out in any case", 1, 72, weakened_by="the same")] = 12


class ProxySettings(Struct, frozen=True):
    wait_seconds: Annotated[
        int,
        says(
            "how long a [proxied](../guide/proxy.md) call that is held waits for a person; many clients give up after a minute",
            0,
            3_600,
        ),
    ] = 45
    answer_seconds: Annotated[int, says("how long a proxied server may take for an answer", 1, 86_400)] = 3_600
    line_bytes: Annotated[int, says("how long one message may be, in either direction", 4_096, 268_435_456)] = (
        16_777_216
    )


class PauseSettings(Struct, frozen=True):
    max_minutes: Annotated[
        int,
        says(
            "the longest [pause](../guide/gate.md#a-pause) that an operator may make; `0` allows none",
            0,
            1_440,
            weakened_by="long: everything that an operator could approve passes meanwhile",
        ),
    ] = 60
