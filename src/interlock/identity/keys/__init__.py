"""Keys and seals: operators' signing keys, the roster that detects edits from outside, and the installation's own keys."""

from interlock.identity.keys.passphrases import (
    EnrolError,
    Kdf,
    OperatorKeys,
    WrongPassphrase,
    enrol,
    open_row,
    passphrase_problem,
)
from interlock.identity.keys.roster import (
    ROSTER_SETTING,
    Roster,
    RosterError,
    problems,
    roster_digest,
    roster_seal,
    seal_operator,
)
from interlock.identity.keys.signing import (
    KeyFileError,
    SigningKey,
    checkpoint_key,
    installation_key,
    verify_signature,
)

__all__ = [
    "ROSTER_SETTING",
    "EnrolError",
    "Kdf",
    "KeyFileError",
    "OperatorKeys",
    "Roster",
    "RosterError",
    "SigningKey",
    "WrongPassphrase",
    "checkpoint_key",
    "enrol",
    "installation_key",
    "open_row",
    "passphrase_problem",
    "problems",
    "roster_digest",
    "roster_seal",
    "seal_operator",
    "verify_signature",
]
