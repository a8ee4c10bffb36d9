"""Settings page: operators, channels, adapter trust, the mode, the planner and the configuration file."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from interlock.console.pages.ask import HOME as ASK
from interlock.console.pages.ask import not_here
from interlock.console.visit import ADMIN, InvalidInput, PageRoutes, Visit
from interlock.error_codes import AnswerRefused
from interlock.identity import credentials
from interlock.identity.agents import set_mode
from interlock.identity.console_access import role_of
from interlock.identity.keys.passphrases import EnrolError
from interlock.identity.keys.roster import PASSKEY
from interlock.identity.operators import add_operator, change_operator
from interlock.model import TRUSTS, Trust
from interlock.notify import outbox
from interlock.plans import planner_choice
from interlock.policy.policy import MODES
from interlock.policy.rendering import policy_warnings
from interlock.records import OperatorRow
from interlock.runtime.adapter_trust import change_trust, known_adapters
from interlock.web.wire import adapter_json

HOME = "/console/settings"
routes = PageRoutes(HOME)
_NAME = re.compile(r"[\w.@-]{1,64}")
_WHY = "say why: it is recorded"
Work = Callable[[Visit], str]


@routes.get()
def page(visit: Visit, error: str = "") -> Response:
    state, config = visit.state, visit.context.config
    rows = sorted(state.store.read(lambda tx: tx.operators()), key=lambda row: row.name)
    return visit.page(
        "settings/settings.html",
        422 if error else 200,
        error=error,
        operators=[_operator(visit, row) for row in rows],
        channels=outbox.list_channels(state, 3),
        adapters=[{**adapter_json(state, one, True), "whole_mark": one.mark} for one in known_adapters(state)],
        trusts=[trust.word for trust in Trust],
        limits=config.limits,
        console=config.console,
        audit=config.audit,
        file=config.path,
        address=visit.context.address,
        concerns=policy_warnings(state.policy, state.mode, config.danger_patterns),
        alerts=tuple(state.alerts.values()),
        enrolments=credentials.enrolments(state),
        planner=planner_choice.planner_state(state),
        plan=config.plan,
        ask_not_here=not_here(visit),
    )


def _operator(visit: Visit, row: OperatorRow) -> dict[str, Any]:
    state = visit.state
    held = credentials.credentials_of(state, row.name)
    return {
        "row": row,
        "may": role_of(state, row.name),
        "passkeys": sum(one.kind == PASSKEY for one in held),
        "codes": sum(one.kind != PASSKEY for one in held),
    }


def _change(work: Work) -> Callable[[Visit], Response]:
    """Redirects back after a change; a refusal is shown on the same page."""

    def handler(visit: Visit) -> Response:
        try:
            said = work(visit)
        except (AnswerRefused, InvalidInput, EnrolError) as error:
            return page(visit, str(error))
        return visit.redirect(f"{HOME}?said={said}")

    return handler


@routes.post("/mode", ADMIN)
@_change
def mode(visit: Visit) -> str:
    wanted, reason = visit.form.get("mode", ""), visit.reason(_WHY)[:500]
    if wanted not in MODES:
        raise InvalidInput(f"no mode {wanted[:40]!r}")
    set_mode(*visit.by, wanted, reason)
    return "mode"


@routes.post("/operators/{name}", ADMIN)
@_change
def operator(visit: Visit) -> str:
    roles, teams = _names(visit, "roles"), _names(visit, "teams")
    change_operator(*visit.by, visit.params["name"], roles, teams, visit.form.get("disabled") == "yes")
    return "operator"


@routes.post("/operators", ADMIN)
@_change
def new_operator(visit: Visit) -> str:
    """The operator learns the first passphrase out of band and changes it."""
    name, first, again = (visit.form.get(field, "") for field in ("name", "passphrase", "again"))
    if not _NAME.fullmatch(name.strip()):
        raise InvalidInput("a name is letters, digits and . @ - _, no more than 64")
    if first != again:
        raise InvalidInput("the two passphrases are not the same")
    add_operator(*visit.by, name.strip(), first, _names(visit, "roles"), _names(visit, "teams"))
    return "added"


@routes.post("/channels/{name}/test")
def test_channel(visit: Visit) -> Response:
    try:
        told = outbox.send_test(*visit.by, visit.params["name"])
    except AnswerRefused as error:
        told = {"sent": False, "reason": str(error), "name": visit.params["name"]}
    return visit.page("settings/_channel_test.html", told=told)


@routes.post("/adapters/{name}/trust")
@_change
def trust(visit: Visit) -> str:
    """One step up by an admin, down by any approver."""
    wanted = TRUSTS.get(visit.form.get("level", ""))
    if wanted is None:
        raise InvalidInput("no such level of trust")
    reason, mark = visit.reason(_WHY)[:500], visit.form.get("mark", "")
    change_trust(*visit.by, visit.params["name"], wanted, reason, mark)
    return "trust"


@routes.post("/planner", ADMIN)
def planner(visit: Visit) -> Response:
    to = ASK if visit.form.get("back") == "ask" else HOME
    try:
        planner_choice.choose(*visit.by, visit.form.get("use", ""), visit.form.get("model", ""))
    except AnswerRefused as error:
        return page(visit, str(error))
    return visit.redirect(f"{to}?said=planner")


def _names(visit: Visit, field: str) -> list[str]:
    names = re.findall(r"[^,\s]+", visit.form.get(field, ""))
    for name in names:
        if not _NAME.fullmatch(name) or len(names) > 20:
            raise InvalidInput(f"{field}: {name[:40]!r} is no name")
    return names
