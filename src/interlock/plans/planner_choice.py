"""Chooses the planner that answers: the configured one or an operator's choice, bound to the user whose program listens."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import os
import pwd
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import asdict, replace

from interlock.approvals.statements import ADMIN
from interlock.config.plans import MOCK, OLLAMA, PlannerSettings
from interlock.error_codes import AnswerRefused
from interlock.identity.console_access import role_of
from interlock.identity.sessions import OperatorSession
from interlock.plans import INVALID
from interlock.policy.plan_review import same_mark
from interlock.ports import UNKNOWN_USER, Planner, PortListener, Tx
from interlock.runtime.state import State

SETTING = "planner"
NOT_CHOSEN = "PLANNER_NOT_CHOSEN"
CHOICES = (OLLAMA, MOCK)
MOST_MODEL = 200  # characters
HOW = "choose once, with `interlock ask --planner` or in the console's Settings"
_CONNECT = 0.5  # seconds; on this machine a listener takes a connection at once
_LISTENS = "0A"  # the state of a socket in the kernel's tables
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


class PlannerOffer(Struct, frozen=True):
    """What operators can choose from, where the configuration leaves it open."""

    settings: PlannerSettings
    open: Callable[[PlannerSettings], Planner]
    listener: Callable[[str], PortListener | None]


class ChosenPlanner(Struct, frozen=True):
    """`owner` is the user whose program listened at the time."""

    use: str
    model: str
    owner: int
    by: str
    at: int


class PlannerState(Struct, frozen=True):
    use: str  # empty while nobody has chosen
    chosen_by: str  # `configuration`, or an operator's name
    settings: PlannerSettings
    listener: PortListener | None = None
    open: bool = True  # whether operators can choose


def planner_for(state: State) -> Planner | None:
    plans = state.plans
    if plans.planner or plans.offer is None:
        return plans.planner
    found = planner_state(state)
    if found.listener and not found.use:
        by, user = found.chosen_by, found.listener.user
        who = f"A program of the user {user}" if user else "Some program"
        why = f"not the program that {by} chose" if by else "nobody has said that it is to be asked"
        raise AnswerRefused(f"{who} answers at {found.settings.host}, and {why}: {HOW}", NOT_CHOSEN)
    mocks = found.chosen_by and found.use == MOCK  # where nobody chose or listens, none is asked by mistake
    return plans.offer.open(replace(found.settings, use=MOCK) if mocks else found.settings)


def choose(state: State, by: OperatorSession, use: str, model: str = "") -> PlannerState:
    if (offer := state.plans.offer) is None:
        raise AnswerRefused("the planner is set in the configuration (planner.use), and changed there")
    if role_of(state, by.operator) != ADMIN:
        raise AnswerRefused(f"{by.operator} is no admin: an admin chooses the planner")
    if use not in CHOICES:
        raise AnswerRefused(f"no planner {use!r:.40}; choose one of {', '.join(CHOICES)}", INVALID)
    model = model.strip()
    if len(model) > MOST_MODEL or not model.isprintable():
        raise AnswerRefused(f"the model's name has at most {MOST_MODEL} characters", INVALID)
    there = offer.listener(offer.settings.host) if use == OLLAMA else None
    choice = ChosenPlanner(use, model, there.uid if there else UNKNOWN_USER, by.operator, int(state.clock.now()))

    def work(tx: Tx) -> None:
        tx.save_setting(SETTING, json.dumps({**asdict(choice), "seal": _seal(state, choice)}))
        details = {"use": use, "model": model, "host": offer.settings.host if use == OLLAMA else ""}
        state.recorder.event(tx, "planner_change", by.operator, details)

    state.store.write(work)
    return planner_state(state)


def stored_choice(state: State) -> ChosenPlanner | None:
    """A row without a valid seal counts as none."""
    text = state.store.read(lambda tx: tx.setting(SETTING))
    try:
        fields = json.loads(text or "null")
        seal = str(fields.pop("seal"))
        choice = ChosenPlanner(**fields)
    except (ValueError, TypeError, AttributeError, KeyError):
        return None
    return choice if same_mark(seal, _seal(state, choice)) and choice.use in CHOICES else None


def planner_state(state: State) -> PlannerState:
    plans = state.plans
    if plans.offer is None:
        return PlannerState(plans.configured.use, "configuration", plans.configured, open=False)
    choice, settings = stored_choice(state), plans.offer.settings
    there = plans.offer.listener(settings.host)
    if choice is None:
        return PlannerState("" if there else MOCK, "", settings, there)
    # Root's program may answer, and the one's that listened at the choice; where none did, this daemon's user's.
    trusted = (0, choice.owner, os.getuid() if choice.owner == UNKNOWN_USER else 0)
    known = choice.use == MOCK or there is None or there.uid in trusted
    settings = replace(settings, model=choice.model or settings.model)
    return PlannerState(choice.use if known else "", choice.by, settings, there)


def _seal(state: State, choice: ChosenPlanner) -> str:
    text = json.dumps(asdict(choice), sort_keys=True)
    return hmac.new(state.installation.digest_key, b"planner\0" + text.encode(), hashlib.sha256).hexdigest()


def listener_at(url: str) -> PortListener | None:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((host, port), _CONNECT) as there:
            address = there.getpeername()[0]
    except OSError:
        return None
    bound = dict(_bound(port))
    uid = bound.get(address, next((uid for at, uid in bound.items() if ipaddress.ip_address(at).is_unspecified), None))
    if uid is None:
        return PortListener(UNKNOWN_USER, "")
    try:
        return PortListener(uid, pwd.getpwuid(uid).pw_name)
    except KeyError:
        return PortListener(uid, f"uid {uid}")


def _bound(port: int) -> Iterator[tuple[str, int]]:
    for table in _TABLES:
        try:
            lines = table.read_text("ascii").splitlines()[1:]
        except (OSError, ValueError):
            continue
        for words in map(str.split, lines):
            text, _, number = words[1].partition(":")
            if words[3] != _LISTENS or int(number, 16) != port:
                continue
            # An address as the kernel writes it: words of four bytes, each in the machine's own order.
            parts = (int(text[at : at + 8], 16) for at in range(0, len(text), 8))
            found = ipaddress.ip_address(struct.pack(f"={len(text) // 8}I", *parts))
            mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
            yield str(mapped or found), int(words[7])
