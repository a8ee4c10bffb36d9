"""Does a name announce a secret, and of which kind?"""

from __future__ import annotations

import re
from functools import lru_cache

# The last word of a name, and the kind of secret that stands under it.
_NOUNS = {
    "password": "password passwd passwords passwort kennwort pwd pswd pword pgpassword userpassword dbpassword",
    "passphrase": "passphrase passphrases passcode",
    "secret": "secret secrets clientsecret",
    "token": "token tokens authtoken accesstoken refreshtoken idtoken bearer jwt",
    "api_key": "apikey apikeys apitoken",
    "private_key": "privatekey privkey",
    "authorization": "authorization",
    "cookie": "cookie cookies",
    "credential": "credential credentials creds",
    "signature": "sig",
    "pin": "pin otp totp mfa",
    "password_hash": "shadow",
}
_KINDS = {word: kind for kind, words in _NOUNS.items() for word in words.split()}
_GLUED = ("password", "passwd", "passphrase", "secret", "apikey", "authtoken", "accesstoken")  # PGPASSWORD
# A key is a secret by the word before it.
_KEYS = {
    "private_key": "private priv rsa dsa ed25519 ecdsa pgp gpg ssh deploy",
    "secret_key": "secret signing encryption master hmac cipher aes shared session",
    "access_key": "access account storage",
    "api_key": "api app application auth service client consumer subscription license licence admin root functions webhook integration",
}
_KEY_KINDS = {word: kind for kind, words in _KEYS.items() for word in words.split()}
# Words after the noun that still leave the secret itself under the name.
_TRAILING = frozenset(
    "value raw plain plaintext base text string b64 base64 current new old confirm confirmation".split()
)
_WEAK = frozenset(
    {"pass", "pwd", "pin", "otp", "totp", "mfa", "sig", "key", "keys", "auth", "bearer", "shadow"}
)  # alone they may mean something else
_PAGES = frozenset(
    "page next continuation sync cursor pagination stop start end eos bos pad unk".split()
)  # tokens that open nothing
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# One of these is in every text in which a name announces a secret.
STEM_PATTERN = (
    r"pass|pwd|pswd|kennwort|secret|token|key|auth|cookie|cred|bearer|basic|jwt|sig=|pin\b|otp|mfa|shadow|identified"
)
STEMS = re.compile(STEM_PATTERN, re.IGNORECASE)


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """The kind of secret that a name announces, in any case style; empty when it announces none."""
    return "" if "<secret:" in name else _kind(tuple(_words(name)))


def weak(name: str) -> bool:
    """Whether the name alone does not settle it: `pass` may count tests, `pwd` may be a folder."""
    words = _words(name)
    return len(words) == 1 and words[0] in _WEAK


def plural(name: str) -> bool:
    """Whether a number under the name is a count of them."""
    words = _words(name)
    return bool(words) and words[-1] in ("tokens", "secrets", "passwords", "cookies", "credentials")


def _kind(words: tuple[str, ...]) -> str:
    while words and (words[-1].isdigit() or (words[-1] in _TRAILING and len(words) > 1)):
        words = words[:-1]
    if not words:
        return ""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in ("key", "keys"):
        return "secret_key" if "secret" in words else _KEY_KINDS.get(before, "" if before else "key")
    if last == "pass" or last == "auth":
        return "password" if last == "pass" else "authorization"
    if last in ("token", "tokens") and before in _PAGES:
        return ""
    if last == "signature" and "amz" in words:
        return "signature"
    if last in _KINDS:
        return _KINDS[last]
    if last == "hash" and before in ("password", "passwd"):
        return "password_hash"
    glued = "" if last.startswith("no") else last  # NOPASSWD of sudoers
    return next((_KINDS[noun] for noun in _GLUED if glued.endswith(noun)), "")


def _words(name: str) -> list[str]:
    return [part.lower() for part in _PARTS.findall(name[-200:])]
