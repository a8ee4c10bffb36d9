"""Which planner answers: the configured one, or the one that an operator chose once. What listens on a port by itself is nobody's choice."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from interlock.core.codes import Refused
from interlock.core.plan_rules import MOCK, OLLAMA, PlannerSettings
from interlock.ports import UNKNOWN_USER, Listener, Planner, Tx
from interlock.service.record import deed
from interlock.service.sessions import OperatorSession
from interlock.service.state import State
from interlock.service.visiting import ADMIN, role_of

SETTING = "planner"
NOT_CHOSEN = "PLANNER_NOT_CHOSEN"
CHOICES = (OLLAMA, MOCK)
MOST_MODEL = 200  # characters
HOW = "choose once, with `interlock ask --planner` or in the console's Settings"


@dataclass(frozen=True, slots=True)
class Offer:
    """What an operator chooses from, where the configuration leaves it open."""

    settings: PlannerSettings
    open: Callable[[PlannerSettings], Planner]
    listener: Callable[[str], Listener | None]


@dataclass(frozen=True, slots=True)
class Choice:
    """What an operator chose; `owner` is the user whose program listened at the time."""

    use: str
    model: str
    owner: int
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How it stands: which planner answers, who chose it, and who listens where Ollama is asked."""

    use: str  # empty while nobody has chosen
    chosen_by: str  # `configuration`, or an operator's name
    settings: PlannerSettings
    listener: Listener | None = None
    open: bool = True  # whether it is an operator's to choose


def planner_for(state: State) -> Planner | None:
    """The planner that answers; raises Refused where an operator has to choose first. None where there is none."""
    plans = state.plans
    if plans.planner is not None or plans.offer is None:
        return plans.planner
    offer, choice = plans.offer, chosen(state)
    there = offer.listener(offer.settings.host)
    if choice is None:
        if there is None:  # nobody could be asked by mistake
            return offer.open(offer.settings)
        words = f"{_listens(there)} at {offer.settings.host}, and nobody has said that it is to be asked: {HOW}"
        raise Refused(words, NOT_CHOSEN)
    if choice.use == MOCK:
        return offer.open(replace(offer.settings, use=MOCK))
    if there is not None and there.uid not in _trusted(choice):
        words = f"{_listens(there)} at {offer.settings.host}, and not the program that {choice.by} chose: {HOW}"
        raise Refused(words, NOT_CHOSEN)
    return offer.open(replace(offer.settings, model=choice.model or offer.settings.model))


def choose(state: State, by: OperatorSession, use: str, model: str = "") -> Standing:
    """Remembers which planner answers, until somebody chooses again; an admin's to say."""
    offer = state.plans.offer
    if offer is None:
        raise Refused("the planner is set in the configuration (planner.use), and changed there")
    if role_of(state, by.operator) != ADMIN:
        raise Refused(f"{by.operator} is no admin: an admin chooses the planner")
    if use not in CHOICES:
        raise Refused(f"no planner {use!r:.40}; choose one of {', '.join(CHOICES)}", "VALIDATION_INVALID_VALUE")
    model = model.strip()
    if len(model) > MOST_MODEL or not model.isprintable():
        raise Refused(f"the model's name has at most {MOST_MODEL} characters", "VALIDATION_INVALID_VALUE")
    there = offer.listener(offer.settings.host) if use == OLLAMA else None
    made = Choice(use, model, there.uid if there else UNKNOWN_USER, by.operator, int(state.clock.now()))

    def work(tx: Tx) -> None:
        tx.save_setting(SETTING, json.dumps({**asdict(made), "seal": _seal(state, made)}))
        details = {"use": use, "model": model, "host": offer.settings.host if use == OLLAMA else ""}
        state.recorder.now(tx, "planner_change", deed(state.clock.now(), "planner_change", by.operator, details))

    state.store.write(work)
    return standing(state)


def chosen(state: State) -> Choice | None:
    """What was chosen; a row that somebody else wrote counts as none."""
    text = state.store.read(lambda tx: tx.setting(SETTING))
    try:
        said = json.loads(text or "null")
        seal = str(said.pop("seal"))
        made = Choice(**said)
    except (ValueError, TypeError, AttributeError, KeyError):
        return None
    return made if hmac.compare_digest(seal, _seal(state, made)) and made.use in CHOICES else None


def standing(state: State) -> Standing:
    """How it stands, for whoever chooses."""
    plans = state.plans
    if plans.offer is None:
        settings = plans.configured
        return Standing(settings.use, "configuration", settings, open=False)
    choice, settings = chosen(state), plans.offer.settings
    there = plans.offer.listener(settings.host)
    if choice is None:
        return Standing("" if there else MOCK, "", settings, there)
    known = choice.use == MOCK or there is None or there.uid in _trusted(choice)
    settings = replace(settings, model=choice.model or settings.model)
    return Standing(choice.use if known else "", choice.by, settings, there)


def _trusted(choice: Choice) -> frozenset[int]:
    """Whose program may answer: root's, and the one that listened when it was chosen; where none did, one of this daemon's user."""
    return frozenset({0, choice.owner} | ({os.getuid()} if choice.owner == UNKNOWN_USER else set()))


def _listens(there: Listener) -> str:
    return f"A program of the user {there.user} answers" if there.user else "Some program answers"


def _seal(state: State, choice: Choice) -> str:
    text = json.dumps(asdict(choice), sort_keys=True)
    return hmac.new(state.installation.digest_key, b"planner\0" + text.encode(), hashlib.sha256).hexdigest()
