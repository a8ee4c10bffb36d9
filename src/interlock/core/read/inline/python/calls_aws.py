"""Calls on boto3 -> the aws command lines that do the same."""

from __future__ import annotations

import json
import re

from interlock.core.read.inline.python.chains import links
from interlock.core.read.inline.python.objects import Call
from interlock.core.read.inline.python.values import UNKNOWN, Sym, Value, text_of
from interlock.core.read.inline.python.walk import Walk

_CLIENT = re.compile(r"\b(boto3|Session\(\)|aioboto3|session)\.(client|resource)\(\)$")
_READS = re.compile(
    r"(get|list|describe|head|can|generate|wait|close|search|scan|query|batch_get|client|resource|load|meta)(_|$)"
)
_MANY = re.compile(r"\.(objects|object_versions)\b")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# the last noun of a resource, with the method on it -> service, operation and parameter
_RESOURCES = {
    ("Bucket", "delete"): ("s3api", "delete-bucket", "--bucket"),
    ("Instance", "terminate"): ("ec2", "terminate-instances", "--instance-ids"),
    ("Instance", "stop"): ("ec2", "stop-instances", "--instance-ids"),
    ("Table", "delete"): ("dynamodb", "delete-table", "--table-name"),
    ("Volume", "delete"): ("ec2", "delete-volume", "--volume-id"),
    ("Snapshot", "delete"): ("ec2", "delete-snapshot", "--snapshot-id"),
    ("Vpc", "delete"): ("ec2", "delete-vpc", "--vpc-id"),
    ("Queue", "delete"): ("sqs", "delete-queue", "--queue-url"),
    ("Queue", "purge"): ("sqs", "purge-queue", "--queue-url"),
    ("Topic", "delete"): ("sns", "delete-topic", "--topic-arn"),
    ("Role", "delete"): ("iam", "delete-role", "--role-name"),
    ("User", "delete"): ("iam", "delete-user", "--user-name"),
    ("Stack", "delete"): ("cloudformation", "delete-stack", "--stack-name"),
}
_COLLECTIONS = {f"{noun.lower()}s": noun for noun, _ in _RESOURCES}


def aws(walk: Walk, call: Call) -> Value:
    """Tell what a client or a resource is asked to change; UNKNOWN for what only reads, or is no part of boto3."""
    of = service(call.owner)
    if not of or _READS.match(call.name) or call.name[:1].isupper() or not re.search(r"[a-z]", call.name):
        return UNKNOWN
    words = _on_resource(call) or _on_client(of, call)
    if not words:
        return UNKNOWN
    walk.world.run(["aws", *words])
    return Sym("?")


def service(owner: Value) -> str:
    """The service that a client or a resource speaks to, else nothing."""
    for link in links(owner):
        if _CLIENT.search(link.path):
            return text_of(link.args[0] if link.args else link.named.get("service_name", UNKNOWN))
    return ""


def _on_resource(call: Call) -> list[str]:
    """A method of `s3.Bucket("x")`, or of all that one holds."""
    chain = links(call.owner)
    nouns = [(link.name.removesuffix("()"), link.args) for link in chain if link.path.endswith("()") and link.args]
    name, args = next(((name, args) for name, args in nouns if name[:1].isupper()), ("", ()))
    words = [text_of(arg) for arg in args]
    if call.name == "delete" and words and _MANY.search(call.path):
        prefix = next((text_of(link.named["Prefix"]) for link in chain if "Prefix" in link.named), "")
        return ["s3", "rm", f"s3://{words[0]}/{prefix}".rstrip("/"), "--recursive"]
    if call.name == "delete" and name == "Object":
        return ["s3", "rm", "s3://" + "/".join(words)]
    if (name, call.name) in _RESOURCES:
        return [*_RESOURCES[name, call.name], *words]
    if ".instances" in call.path and call.name in ("terminate", "stop"):
        return ["ec2", f"{call.name}-instances"]
    held = next((link.name for link in chain if link.name in _COLLECTIONS), "")
    if held and (_COLLECTIONS[held], call.name) in _RESOURCES:  # one of `s3.buckets.all()`, and so each of them
        return list(_RESOURCES[_COLLECTIONS[held], call.name])
    return []


def _on_client(of: str, call: Call) -> list[str]:
    """A method of a client: the operation with its parameters."""
    if "_" not in call.name:
        return []
    options = [word for key, value in call.named.items() for word in _option(key, value)]
    return ["s3api" if of == "s3" else of, _kebab(call.name), *options]


def _option(name: str, value: Value) -> list[str]:
    flag = f"--{_kebab(name)}"
    if isinstance(value, bool):
        return [flag if value else f"--no-{_kebab(name)}"]
    if isinstance(value, (list, tuple)) and not any(isinstance(item, (dict, list)) for item in value):
        return [flag, " ".join(map(text_of, value))]
    if isinstance(value, (dict, list)):
        return [flag, json.dumps(value, default=text_of)]
    return [flag, text_of(value)]


def _kebab(name: str) -> str:
    return _HUMP.sub("-", name).replace("_", "-").lower()
