"""Which pieces of a text are secrets by their own shape?"""

from __future__ import annotations

import math
import re
from collections import Counter

# No pattern asks for anything behind an unbounded run, so that each text is read once.
_SHAPES = {
    "aws_access_key": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Z0-9])",
    "gcp_api_key": r"AIza[A-Za-z0-9_-]{35}",
    "gcp_token": r"ya29\.[A-Za-z0-9_.-]{20,}",
    "gcp_secret": r"GOCSPX-[A-Za-z0-9_-]{20,}",
    "github_token": r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})",
    "gitlab_token": r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.-]{18,}",
    "slack_token": r"(?:xox[a-z]-|xapp-|xoxe\.)[A-Za-z0-9.-]{10,}",
    "slack_webhook": r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{10,}",
    "discord_webhook": r"discord(?:app)?\.com/api/webhooks/[0-9]{5,}/[A-Za-z0-9_-]{20,}",
    "stripe_key": r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,})",
    "anthropic_key": r"sk-ant-[A-Za-z0-9_-]{16,}",
    "openai_key": r"sk-(?:(?:proj|svcacct|admin|or|None)-[A-Za-z0-9_-]{16,}|[A-Za-z0-9]{32,}[A-Za-z0-9_-]*)",
    "npm_token": r"npm_[A-Za-z0-9]{36,}",
    "pypi_token": r"pypi-[A-Za-z0-9_-]{50,}",
    "hugging_face_token": r"hf_[A-Za-z0-9]{30,}",
    "sendgrid_key": r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}",
    "digitalocean_token": r"do[opr]_v1_[a-f0-9]{64}",
    "docker_token": r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}",
    "databricks_token": r"dapi[a-f0-9]{32}",
    "vault_token": r"hv[sbr]\.[A-Za-z0-9_-]{20,}",
    "shopify_token": r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    "linear_key": r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}",
    "square_token": r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}",
    "telegram_token": r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])",
    "age_key": r"AGE-SECRET-KEY-1[A-Z0-9]{20,}",
    "password_hash": r"\$(?:2[abxy]|argon2(?:id|i|d)|[156y]|scrypt|pbkdf2-[a-z0-9]+)\$[A-Za-z0-9./$=,+_-]{20,}",
    "jwt": r"eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){1,4}",
}  # fmt: skip
_EDGE = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2}))"
_ANY = re.compile(_EDGE + "(?:" + "|".join(f"(?P<{kind}>{shape})" for kind, shape in _SHAPES.items()) + ")")
# What has to be in a text for one of them to be there; looked for first, because nearly no text has it.
TELL_PATTERN = (
    r"A[KSBC][IC]A|AIza|ya29\.|GOCSPX-|gh[pousr]_|github_pat_|gl[a-z]{2,5}-|xox[a-z]|xapp-|hooks\.slack|api/webhooks|[sr]k_(?:live|test)_|whsec_"
    r"|sk-|npm_|pypi-|hf_|SG\.|do[opr]_v1_|dckr_|dapi|hv[sbr]\.|shp(?:at|ca|pa|ss)_|lin_(?:api|oauth)_|sq0|:AA|AGE-SECRET|\$[2156yasp]|eyJ"
)
_TELLS = re.compile(TELL_PATTERN)
_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
# Only what looks like the inside of a key goes: a command between the two marks stays to be seen.
_BLOCK = re.compile(
    r"(?:(?:\s|\\[nr])*+(?:[A-Za-z0-9+/=]{40,}+|(?:Proc-Type|DEK-Info|Version|Comment|Hash): [A-Za-z0-9,./ -]{0,80}+(?=[\n\\])))*+"
    r"(?:(?:\s|\\[nr]){0,8}[A-Za-z0-9+/=]{1,76}(?=(?:\s|\\[nr]){0,8}(?:=[A-Za-z0-9+/]{4}(?:\s|\\[nr]){0,8})?-----END ))?"
    r"(?:(?:\s|\\[nr]){0,8}=[A-Za-z0-9+/]{4})?(?:(?:\s|\\[nr]){0,8}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
_CONFIRMATION = re.compile(r"(?<![A-Za-z0-9])(?:conf|quota_continue)_([A-Za-z0-9_-]{32,64})(?![A-Za-z0-9_-])")
_CODE = re.compile(r"(?<![A-Za-z0-9-])[A-Z2-7]{2,26}(?:-[A-Z2-7]{1,8}){0,12}(?![A-Za-z0-9-])")
_CODE_LENGTH = 26  # base32 for 128 bits (C-44)
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F-]+")
_TOKEN_CHARACTERS = re.compile(r"[A-Za-z0-9+/_=.~-]+")


def placeholder(kind: str) -> str:
    """What stands where a secret was; nothing of the secret can be told from it."""
    return f"<secret:{kind}>"


def redact_shapes(text: str) -> str:
    """The text without what is a secret wherever it stands."""
    if "PRIVATE KEY" in text:
        text = _without_blocks(text)
    if _TELLS.search(text):
        text = _ANY.sub(lambda found: placeholder(str(found.lastgroup)), text)
    if "conf_" in text or "quota_continue_" in text:
        text = _CONFIRMATION.sub(_confirmation, text)
    return _CODE.sub(_code, text)


def random_looking(text: str, least: int = 16) -> bool:
    """Whether a word is more likely drawn at random than written by somebody."""
    if len(text) < least or not _TOKEN_CHARACTERS.fullmatch(text) or text.startswith(("/", "./", "../", "~/")):
        return False
    digits = sum(character.isdigit() for character in text)
    letters = sum(character.isalpha() for character in text)
    return digits >= 2 and letters >= 2 and entropy(text) >= 3.0


def hexadecimal(text: str) -> bool:
    """Whether a word is a digest or a uuid: those name things."""
    return _HEX.fullmatch(text) is not None


def entropy(text: str) -> float:
    """Bits a character, by how often each occurs."""
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


def _without_blocks(text: str) -> str:
    """Private keys out; a mark with no key behind it stays."""
    out, at = [], 0
    while (begin := _BEGIN.search(text, at)) is not None:
        block = _BLOCK.match(text, begin.end())
        end = block.end() if block else begin.end()
        hollow = len(text[begin.end() : end].strip()) < 16
        out += [text[at : begin.start()], text[begin.start() : end] if hollow else placeholder("private_key")]
        at = end
    return "".join(out) + text[at:]


def _confirmation(found: re.Match[str]) -> str:
    drawn = found[1] != found[1].lower() and found[1] != found[1].upper() and entropy(found[1]) > 3.5
    return placeholder("confirmation_token") if drawn else found[0]


def _code(found: re.Match[str]) -> str:
    code = found[0].replace("-", "")
    mixed = sum(character.isdigit() for character in code) >= 2 and len(set(code)) > 8
    return placeholder("code") if len(code) == _CODE_LENGTH and mixed else found[0]
