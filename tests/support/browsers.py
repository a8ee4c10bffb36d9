"""Browsers of operators, without a browser: signed in at a gate with a passkey in software, or with passphrase and code."""

from __future__ import annotations

from dataclasses import dataclass

import pyotp

from authenticator import ORIGIN, Authenticator
from gate import PASSPHRASE, Gate
from interlock.approvals import step_up
from interlock.identity import passkeys, totp
from interlock.identity.console_access import enter_by_link, set_up_link, visitor_of
from interlock.identity.visitors import Site, Visitor
from interlock.records import Credential

SITE = Site("localhost", ORIGIN)
HERE = "127.0.0.1"


def follow_setup_link(gate: Gate, name: str = "ann") -> Visitor:
    """A visitor who follows the set-up link of their terminal."""
    _, visitor = enter_by_link(gate.state, set_up_link(gate.state, gate.sign_in(name)), HERE)
    return visitor


def register(gate: Gate, visitor: Visitor, key: Authenticator, name: str = "laptop") -> Credential:
    asked = passkeys.register_begin(gate.state, visitor, SITE)
    return passkeys.register_finish(gate.state, visitor, asked["ceremony"], key.create(asked["publicKey"]), name, SITE)


def add_passkey(gate: Gate, name: str = "ann") -> Authenticator:
    """Somebody's first passkey."""
    key = Authenticator()
    register(gate, follow_setup_link(gate, name), key)
    return key


def add_authenticator(gate: Gate, name: str = "ann") -> pyotp.TOTP:
    """Somebody's authenticator; the time goes on, so that its next code is a new one."""
    visitor = follow_setup_link(gate, name)
    asked = totp.begin(gate.state, visitor)
    app = pyotp.TOTP(asked["secret"])
    totp.finish(gate.state, visitor, asked["ceremony"], app.at(int(gate.clock.now())))
    gate.clock.forward(30)
    return app


@dataclass
class SignedInBrowser:
    """A browser that is signed in."""

    gate: Gate
    token: str

    @property
    def visitor(self) -> Visitor:
        found = visitor_of(self.gate.state, self.token)
        assert found is not None
        return found


def enter_with_passkey(gate: Gate, key: Authenticator) -> SignedInBrowser:
    asked = passkeys.sign_in_begin(gate.state, SITE)
    token, _ = passkeys.sign_in_finish(gate.state, asked["ceremony"], key.get(asked["publicKey"]), SITE, HERE)
    return SignedInBrowser(gate, token)


def enter_with_code(gate: Gate, app: pyotp.TOTP, name: str = "ann") -> SignedInBrowser:
    token, _ = totp.sign_in(gate.state, name, PASSPHRASE, app.at(int(gate.clock.now())), HERE)
    return SignedInBrowser(gate, token)


def touch_passkey(entered: SignedInBrowser, key: Authenticator) -> Visitor:
    """The visitor after a fresh touch."""
    gate = entered.gate
    asked = step_up.freshen_begin(gate.state, entered.visitor, SITE)
    step_up.freshen(gate.state, entered.visitor, step_up.Touch(asked["ceremony"], key.get(asked["publicKey"]), SITE))
    return entered.visitor
