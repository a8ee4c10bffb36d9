"""Which namespace or release of which cluster does a command name? Only where it says itself which cluster that is."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.core.options import options_of
from interlock.core.read.facts import Command, known

NAMESPACE, RELEASE = "namespace", "release"
_KUBECTL = ("--context", "-n", "--namespace", "--timeout", "--grace-period", "--request-timeout")
_HELM = (
    "--kube-context",
    "-n",
    "--namespace",
    "--timeout",
    "-f",
    "--values",
    "--set",
    "--version",
    "--description",
    "--set-string",
)
_KUBECTL_BARE = ("--wait", "--wait=false", "--wait=true", "--now", "--ignore-not-found")
_HELM_BARE = (
    "--wait",
    "--atomic",
    "--create-namespace",
    "--debug",
    "--keep-history",
    "--ignore-not-found",
    "--dependency-update",
)


def created(fact: Command) -> tuple[str, str] | None:
    """What it makes where there was none of that name: `create namespace` and `helm install` refuse otherwise."""
    return _named(fact, (("kubectl", ("create", "namespace")), ("kubectl", ("create", "ns")), ("helm", ("install",))))


def deleted(fact: Command) -> tuple[str, str] | None:
    """The one that it deletes."""
    verbs = [("kubectl", ("delete", name)) for name in ("namespace", "ns", "namespaces")]
    return _named(fact, (*verbs, *(("helm", (name,)) for name in ("uninstall", "delete", "un"))))


def _named(fact: Command, verbs: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[str, str] | None:
    if fact.env or not all(map(known, fact.words)):
        return None
    helm = fact.program == "helm"
    found = options_of(fact.words, _HELM if helm else _KUBECTL, _HELM_BARE if helm else _KUBECTL_BARE)
    cluster = found.last("--kube-context" if helm else "--context") if found is not None else None
    if found is None or not cluster:
        return None
    for program, verb in verbs:
        if fact.program == program and tuple(found.rest[: len(verb)]) == verb:
            names = found.rest[len(verb) :]
            where = found.last("-n", "--namespace") or ""
            if helm and where and (len(names) == 1 or (names and verb == ("install",))):
                return RELEASE, f"{cluster} {where} {names[0]}"
            if not helm and len(names) == 1:
                return NAMESPACE, f"{cluster} {names[0]}"
    return None


def pods(fact: Command) -> bool:
    """Whether it deletes pods by name or label and nothing else: Kubernetes ends and starts them anew as it likes, and so may others."""
    found = options_of(fact.words, (*_KUBECTL, "-l", "--selector"), _KUBECTL_BARE)
    if found is None or fact.env or not all(map(known, fact.words)) or found.last("--grace-period") is not None:
        return False
    kind = found.rest[:2] in (("delete", "pod"), ("delete", "pods"), ("delete", "po"))
    return kind and bool(found.rest[2:]) != found.has("-l", "--selector")
