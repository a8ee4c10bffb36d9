"""Whose keys are these? Operators and what they sign with, the roster that nobody edits unseen, and this installation's own keys."""

from interlock.keys.files import KeyFileError, checkpoint_key, installation_key
from interlock.keys.operators import (
    EnrolError,
    Kdf,
    Unlocked,
    WrongPassphrase,
    enrol,
    open_row,
    passphrase_problem,
)
from interlock.keys.roster import ROSTER_SETTING, Roster, RosterError, problems, roster_digest, roster_seal, seal
from interlock.keys.signing import SigningKey, fingerprint, verified

__all__ = [
    "ROSTER_SETTING",
    "EnrolError",
    "Kdf",
    "KeyFileError",
    "Roster",
    "RosterError",
    "SigningKey",
    "Unlocked",
    "WrongPassphrase",
    "checkpoint_key",
    "enrol",
    "fingerprint",
    "installation_key",
    "open_row",
    "passphrase_problem",
    "problems",
    "roster_digest",
    "roster_seal",
    "seal",
    "verified",
]
