"""Signs operators in and manages them; every change is sealed and recorded."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TypeVar

from msgspec.structs import replace

from interlock.approvals.statements import ADMIN
from interlock.canonical_json import normal_name
from interlock.error_codes import AnswerRefused, NotFound
from interlock.identity.agent_detection import is_agents_terminal
from interlock.identity.attempts import Attempts
from interlock.identity.keys.passphrases import EnrolError, Kdf, enrol, operator_name, passphrase_problem, plain_label
from interlock.identity.keys.roster import ROSTER_SETTING, StoredRoster, roster_seal, seal_row
from interlock.identity.sessions import OperatorSession, SignInRefused, TooManySignIns, WrongSignIn
from interlock.identity.terminal import Terminal, TerminalError, controlling_terminal
from interlock.ports import Tx
from interlock.records import OperatorRow
from interlock.runtime.state import State

T = TypeVar("T")
NOBODY = "nobody known"  # stands for an unknown name in the record
SIGN_INS = Attempts("sign_in.failures")


def sign_in(state: State, name: str, passphrase: str, channel: str, source: str = "") -> tuple[str, OperatorSession]:
    """Records a failure, and counts it for this name from this source only."""

    def work() -> tuple[str, OperatorSession]:
        return state.store.read(lambda tx: state.sessions.sign_in(tx, name, passphrase, state.clock.now(), channel))

    token, session = attempt_sign_in(state, name, channel, source, work)
    state.recorder.event_alone("unlock", session.operator, {"channel": channel})
    return token, session


def attempt_sign_in(state: State, name: str, channel: str, source: str, work: Callable[[], T]) -> T:
    key = f"{source}\0{normal_name(name)}"
    if seconds := state.store.read(lambda tx: SIGN_INS.wait(tx, key, state.clock.now())):
        raise TooManySignIns(seconds)
    try:
        return work()
    except SignInRefused as error:
        failure = error
        state.store.write(lambda tx: _record_failure(tx, state, key, name, channel, failure))
        raise


def note_failure(state: State, channel: str, source: str, error: SignInRefused) -> None:
    """Records a failed sign-in that was no guess: nobody is locked out, and a flood is recorded in part."""

    def work(tx: Tx) -> None:
        if not SIGN_INS.wait(tx, source, state.clock.now()):
            _record_failure(tx, state, source, "", channel, error)

    state.store.write(work)


def _record_failure(tx: Tx, state: State, key: str, name: str, channel: str, error: SignInRefused) -> None:
    if isinstance(error, WrongSignIn):
        SIGN_INS.failed(tx, key, state.clock.now())
    known, named = {row.name for row in tx.operators()}, normal_name(name)
    who = named if named in known else NOBODY  # people type their passphrase into the wrong field
    state.recorder.event(tx, "verify_failed", who, {"channel": channel, "reason": str(error)})


def enrol_first(state: State, row: OperatorRow, seal_key: bytes) -> None:
    def work(tx: Tx) -> None:
        if (stored := StoredRoster.of(tx)).rows or not state.sessions.matches_pin(stored):
            raise AnswerRefused("there is an operator already; an admin adds others with `interlock operator add`")
        _save(state, tx, [row], row, seal_key, "enrol", row.name)

    state.store.write(work)
    state.sessions.confirm_roster()
    state.store.read(lambda tx: state.sessions.open_roster(tx, seal_key))


def add_operator(
    state: State,
    by: OperatorSession,
    name: str,
    passphrase: str,
    roles: Iterable[str] = (),
    teams: Iterable[str] = (),
    service: bool = False,
    kdf: Kdf | None = None,
) -> OperatorRow:
    seal_key, now = require_admin(state, by), state.clock.now()
    row, _ = enrol(
        name, passphrase, seal_key, now=now, by=by.operator, roles=roles, teams=teams, service=service, kdf=kdf
    )

    def change(rows: Sequence[OperatorRow]) -> OperatorRow:
        if any(one.name == row.name for one in rows):
            raise AnswerRefused(f"there is an operator {row.name!r} already")
        return row

    _change_roster(state, seal_key, "enrol", by.operator, change)
    state.tell("operator", None, f"{by.operator} added {_description(row)}")
    return row


def change_operator(
    state: State,
    by: OperatorSession,
    name: str,
    roles: Iterable[str] | None = None,
    teams: Iterable[str] | None = None,
    disabled: bool | None = None,
) -> OperatorRow:
    seal_key = require_admin(state, by)

    def change(rows: Sequence[OperatorRow]) -> OperatorRow:
        before = next((row for row in rows if row.name == normal_name(name)), None)
        if before is None:
            raise NotFound(f"no operator {name!r}")
        changed = replace(
            before,
            roles=before.roles if roles is None else _labels(roles, "role"),
            teams=before.teams if teams is None else _labels(teams, "team"),
            disabled_at=before.disabled_at if disabled is None else state.clock.now() if disabled else 0.0,
        )
        others = (row for row in rows if row.name != before.name)
        if not any(ADMIN in row.roles and not row.service and not row.disabled_at for row in [*others, changed]):
            raise AnswerRefused("somebody has to be an admin")
        return seal_row(changed, seal_key)

    changed = _change_roster(state, seal_key, "operator_change", by.operator, change)
    state.tell("operator", None, f"{by.operator} changed {_description(changed)}")
    return changed


def _labels(given: Iterable[str], what: str) -> tuple[str, ...]:
    return tuple(sorted({plain_label(one, what) for one in given}))


def _description(row: OperatorRow) -> str:
    held = ", ".join([*row.roles, *(f"team {team}" for team in row.teams)]) or "no role"
    disabled = ", disabled" if row.disabled_at else ""
    return f"the {'service' if row.service else 'operator'} {row.name} ({held}{disabled})"


def change_passphrase(state: State, session: OperatorSession, passphrase: str, kdf: Kdf | None = None) -> None:
    """One's own; approvals signed under the old one no longer count."""
    if (seal_key := state.sessions.seal_key()) is None or not session.stepped_up(state.clock.now()):
        raise AnswerRefused("sign in again first")

    def change(rows: Sequence[OperatorRow]) -> OperatorRow:
        before = next(row for row in rows if row.name == session.operator)
        made, _ = enrol(
            before.name, passphrase, seal_key, now=before.created_at, by=before.created_by, roles=before.roles, teams=before.teams,
            service=before.service, kdf=kdf,
        )  # fmt: skip
        return made

    _change_roster(state, seal_key, "operator_change", session.operator, change)


def _change_roster(
    state: State, seal_key: bytes, event: str, by: str, change: Callable[[Sequence[OperatorRow]], OperatorRow]
) -> OperatorRow:
    """Refuses to reseal rows that were changed elsewhere."""

    def work(tx: Tx) -> OperatorRow:
        rows = StoredRoster.of(tx).verified(seal_key).rows
        row = change(rows)
        _save(state, tx, [*(one for one in rows if one.name != row.name), row], row, seal_key, event, by)
        return row

    made = state.store.write(work)
    state.sessions.confirm_roster()
    return made


def _save(
    state: State, tx: Tx, rows: list[OperatorRow], row: OperatorRow, seal_key: bytes, event: str, by: str
) -> None:
    tx.save_operator(row)
    tx.save_setting(ROSTER_SETTING, roster_seal(rows, seal_key))
    details = {
        "operator": row.name, "roles": list(row.roles), "teams": list(row.teams), "service": row.service, "key_id": row.key_id,
        "disabled": bool(row.disabled_at),
    }  # fmt: skip
    state.recorder.event(tx, event, by, details)
    state.sessions.take_roster(tx)


def require_admin(state: State, by: OperatorSession) -> bytes:
    """The operators' seal key; refuses also an admin without a fresh sign-in."""
    if (seal_key := state.sessions.seal_key()) is None or not state.sessions.is_admin(by.operator):
        raise AnswerRefused(f"{by.operator} is no admin")
    by.require_fresh(state.clock.now())
    return seal_key


CODE_SECONDS = 300.0
TRIES = 5  # at a valid name or passphrase
_CODE_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # no look-alikes; five bits each
_CODE_LENGTH = 12


def enrol_at_terminal(
    now: float, name: str = "", seconds: float = CODE_SECONDS, kdf: Kdf | None = None
) -> tuple[OperatorRow, bytes]:
    """Enrols the first operator, an admin: its row and the seal key; refuses an agent's terminal."""
    if why := is_agents_terminal():
        raise TerminalError(f"this looks like an agent's terminal: {why}; open one of your own and try again there")
    with controlling_terminal() as terminal:
        _prove(terminal, seconds)
        name = name or _ask_name(terminal)
        passphrase = ask_passphrase(terminal, name, "Passphrase (at least 8 characters): ")
        return enrol(name, passphrase, None, now=now, by="terminal", roles=(ADMIN,), kdf=kdf)


def _prove(terminal: Terminal, seconds: float) -> None:
    code = "".join(secrets.choice(_CODE_LETTERS) for _ in range(_CODE_LENGTH))
    shown = "-".join(code[at : at + 4] for at in range(0, _CODE_LENGTH, 4))
    terminal.say(f"Interlock has no operator yet. Whoever types this code becomes its first.\n\n    {shown}\n\n")
    try:
        typed = terminal.ask(f"Code (valid {seconds / 60:g} min, once): ", seconds)
    except TerminalError as error:
        raise TerminalError(f"the code was not typed: {error}; start again for a new one") from None
    given = typed.upper().replace("-", "").replace(" ", "")
    if not hmac.compare_digest(given.encode(), code.encode()):
        raise TerminalError("that is not the code; start again for a new one")


def _ask_name(terminal: Terminal) -> str:
    offered = ""
    with suppress(EnrolError):
        offered = operator_name(os.environ.get("USER", ""))  # which later sign-ins offer too
    for _ in range(TRIES):
        try:
            typed = terminal.ask(f"Your name{f' [{offered}]' if offered else ''}: ")
            return operator_name(typed.strip() or offered)
        except EnrolError as error:
            terminal.say(f"{error}\n")
    raise TerminalError("no name was given")


def ask_passphrase(terminal: Terminal, name: str, prompt: str) -> str:
    for _ in range(TRIES):
        first = terminal.secret(prompt)
        if problem := passphrase_problem(first, name):
            terminal.say(f"{problem}\n")
        elif hmac.compare_digest(terminal.secret("The same again: ").encode(), first.encode()):
            return first
        else:
            terminal.say("the two passphrases differ\n")
    raise TerminalError("no passphrase was given")
