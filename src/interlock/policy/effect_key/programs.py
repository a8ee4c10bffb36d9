"""Targets of a program from its words: infrastructure, clusters, containers, services, databases, and its own verbs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from interlock.analysis.facts import Command, Effect, known
from interlock.analysis.lexicon import verb_kind
from interlock.analysis.places import resolve
from interlock.analysis.read import read
from interlock.analysis.shell.options import options, valued
from interlock.model import operation
from interlock.policy.effect_key.git import git_keys, repository
from interlock.policy.effect_key.key import FAMILIES, REMOVE, RUN, STOP, WRITE, EffectKey
from interlock.policy.effect_key.params import normal_spelling, noun
from interlock.redaction import redact

_PARTS = re.compile(r"[-:_./\s]+")
_VERBS = frozenset(
    "delete terminate stop revoke invalidate reset block account override grant send leak rewrite archive".split()
)
_LONGEST = 200
FORGE = "forge"  # where repositories are known by owner and name
LOCAL = frozenset({"", "localhost", "127.0.0.1", "::1", "[::1]"})


def command_keys(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    """The keys of one command without known effects: by the targets in its words, else by its own text."""
    if all(map(known, command.words)):
        reader = _READERS.get(command.program)
        wraps = "wrapper" in command.traits  # what it runs is reported by itself
        found = reader(command, before) if reader is not None else [] if wraps else _by_verb(command)
        if found:
            return [EffectKey(one.family, one.target, one.place, grantable=False) for one in found]
    return [run_key(command)]


def run_key(command: Command) -> EffectKey:
    """A program whose effects are not known: its name and the words that are no flags, in its own folder."""
    words = sorted(
        word.lstrip("+") for word in redact([command.program, *command.words])[1:] if not word.startswith("-")
    )
    place = repository(command) if command.program == "git" else command.cwd
    return EffectKey(RUN, f"{command.program} {' '.join(words)}".strip()[:_LONGEST], place, grantable=False)


def _git(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    return git_keys(command)


# Infrastructure: the folder and the workspace, whatever subcommand takes it down.

_TERRAFORM = valued(
    "-chdir -target -state -var -var-file -lock-timeout -parallelism -backup -replace --terragrunt-working-dir --working-dir"
)
_PULUMI = valued("-C --cwd -s --stack -t --target -m --message --config-file")
_STAGES = valued("-s --stage --stack-name --app -a --profile --region -r -c --context --env -e -f --file --config")


def _terraform(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    found = options(_two_dashes(command.words), frozenset(map(_doubled, _TERRAFORM)))
    folder = _folder(found.value("--chdir", "--terragrunt-working-dir", "--working-dir"), command)
    names = [name for name in found.operands if name not in ("run-all", "run", "stack")]
    verb = names[0] if names else ""
    workspace = dict(command.env).get("TF_WORKSPACE") or _selected(before) or "default"
    place = folder if workspace == "default" else f"{folder}#{workspace}"
    if verb in ("state", "workspace") and len(names) > 2 and names[1] in ("rm", "delete"):
        kind = "resource" if verb == "state" else "workspace"
        return [EffectKey(REMOVE, f"{kind}_{name}", place) for name in names[2:]]
    if verb == "destroy" or (verb == "apply" and found.has("--destroy")):
        targets = found.all("--target")
        return [EffectKey(REMOVE, f"infrastructure_{name}", place) for name in targets or ["*"]]
    return [EffectKey(WRITE, "infrastructure_*", place)] if verb == "apply" else []


def _folder(given: str | None, command: Command) -> str:
    """The folder that a program works in, by its options or its own; empty where neither is known."""
    return resolve(given, command.cwd) if given else command.cwd


def _selected(before: Iterable[Command]) -> str:
    """The workspace that an earlier command of the same text selects."""
    chosen = [one.words[2] for one in before if one.words[:2] == ("workspace", "select") and len(one.words) > 2]
    return chosen[-1] if chosen else ""


def _two_dashes(words: Sequence[str]) -> list[str]:
    """Go's flags have one dash or two."""
    return [_doubled(word) for word in words]


def _doubled(word: str) -> str:
    return f"-{word}" if word.startswith("-") and not word.startswith("--") and len(word) > 2 else word


def _pulumi(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    found = options(command.words, _PULUMI)
    folder = _folder(found.value("-C", "--cwd"), command)
    names = found.operands
    stack = found.value("-s", "--stack") or (names[2] if names[:2] == ["stack", "rm"] and len(names) > 2 else "")
    place = f"{folder}#{stack}" if stack else folder
    if names[:1] in (["destroy"], ["down"]) or names[:2] == ["stack", "rm"]:
        targets = found.all("-t", "--target")
        return [EffectKey(REMOVE, f"infrastructure_{name}", place) for name in targets or ["*"]]
    return []


def _stack(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    """cdk, sam, serverless, sst, copilot, vagrant: what is deployed from a folder, by its stage."""
    found = options(command.words, _STAGES)
    verbs = [name for name in found.operands[:2] if verb_kind(name) in ("delete", "terminate")]
    if not verbs:
        return []
    names = [*found.operands[found.operands.index(verbs[0]) + 1 :], *found.all("--stack-name")]
    stage = found.value("-s", "--stage", "--env", "-e") or ""
    place = f"{command.cwd}#{stage}" if stage else command.cwd
    return [EffectKey(REMOVE, f"infrastructure_{name}", place) for name in names or ["*"]]


# Clusters: context and namespace are the place.

_KUBE = valued(
    "--context --cluster --kubeconfig -n --namespace --kube-context -f --filename -l --selector --timeout --grace-period -o --output "
    "--replicas -k --kustomize --field-selector --version --set --values"
)
_KINDS = MappingProxyType(
    {
        "po": "pod", "deploy": "deployment", "svc": "service", "ns": "namespace", "sts": "statefulset", "ds": "daemonset",
        "cm": "configmap", "no": "node", "rs": "replicaset", "ing": "ingress", "cj": "cronjob", "sa": "serviceaccount",
        "ev": "event", "crd": "customresourcedefinition", "pv": "persistentvolume", "pvc": "persistentvolumeclaim",
    }
)  # fmt: skip
KUBE_NOUNS = frozenset({*_KINDS.values(), "job", "secret", "release"})


def cluster_place(context: str, namespace: str) -> str:
    """`cluster:staging/shop`; empty for the caller's defaults."""
    namespace = "" if namespace == "default" else namespace
    return f"cluster:{context}/{namespace}" if context or namespace else ""


def _kubectl(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    found = options(command.words, _KUBE)
    verb, rest = (found.operands[0], found.operands[1:]) if found.operands else ("", [])
    named = [_slashed(word) for word in rest if "/" in word]
    if not named and rest:
        kind = _kind(rest[0])
        named = [(kind, name) for name in rest[1:] or [found.value("-l", "--selector") or "*"]]
    named += [("manifest", resolve(name, command.cwd)) for name in found.all("-f", "--filename", "-k", "--kustomize")]
    context = found.value("--context", "--cluster") or found.value("--kubeconfig") or ""
    namespace = found.value("-n", "--namespace") or ""
    place = cluster_place(context, namespace)
    return [
        EffectKey(_family(f"{verb}_{kind}"), f"{kind}_{name}", place if kind != "namespace" else f"cluster:{context}/")
        for kind, name in named
    ]


def _slashed(word: str) -> tuple[str, str]:
    kind, _, name = word.partition("/")
    return _kind(kind), name


def _kind(word: str) -> str:
    bare = word.lower().partition(".")[0]
    return _KINDS.get(bare) or noun(bare)


def _helm(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    found = options(command.words, _KUBE)
    names = found.operands
    if names[:1] not in (["uninstall"], ["delete"], ["un"], ["del"]):
        return []
    place = cluster_place(found.value("--kube-context") or "", found.value("-n", "--namespace") or "")
    return [EffectKey(REMOVE, f"release_{name}", place) for name in names[1:]]


# Containers, services, databases.

_DOCKER = valued("-H --host -c --context --config --filter -t --time -s --signal -n")
_COMPOSE = valued("-f --file -p --project-name --env-file --profile --project-directory -t --timeout")
_DOCKER_KINDS = MappingProxyType({"rm": "container", "rmi": "image", "stop": "container", "kill": "container"})


def _docker(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    found = options(command.words, _DOCKER, stop_at_operand=True)
    host = found.value("-H", "--host", "-c", "--context") or dict(command.env).get("DOCKER_HOST", "")
    words, place = found.operands, f"docker:{host}" if host else ""
    if words[:1] == ["compose"]:
        return _compose_down(words[1:], command.cwd)
    kind = _DOCKER_KINDS.get(words[0], "") if words else ""
    verb, names = (words[0].removesuffix("i"), words[1:]) if kind else ("", [])
    if not kind and len(words) > 1:
        kind, verb, names = words[0], words[1], words[2:]
    named = options(names, _DOCKER).operands
    if verb == "prune":
        return [EffectKey(REMOVE, f"{kind}_*", place)]
    if verb not in ("rm", "remove", "stop", "kill") or not named:
        return []
    family = STOP if verb in ("stop", "kill") or kind == "container" else REMOVE
    return [EffectKey(family, f"{kind}_{name}", place) for name in named]


def _compose(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    return _compose_down(command.words, command.cwd)


def _compose_down(words: Sequence[str], cwd: str) -> list[EffectKey]:
    found = options(words, _COMPOSE)
    if not {"down", "rm", "stop", "kill"} & set(found.operands[:1]):
        return []
    file = found.value("-f", "--file")
    given = found.value("--project-directory") or (posixpath.dirname(file) if file else "")
    folder = resolve(given, cwd) if given else cwd
    project = found.value("-p", "--project-name") or ""
    family = REMOVE if found.has("-v", "--volumes") else STOP
    place = f"{folder}#{project}" if project else folder
    return [EffectKey(family, f"compose_{name}", place) for name in found.operands[1:] or ["*"]]


def _service(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    """systemctl stop nginx, service nginx stop: one of the words is what is done, the others are services."""
    words = options(command.words, valued("-H --host -M --machine -t -p")).operands
    verbs = [
        word
        for word in words
        if word in ("stop", "disable", "mask", "kill", "restart", "delete", "remove", "bootout", "unload")
    ]
    if not verbs:
        return []
    names = [word.removesuffix(".service") for word in words if word != verbs[0]]
    return [EffectKey(STOP, f"service_{name}") for name in names or ["*"]]


def _processes(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    names = options(command.words, valued("-u -U -g -G -P -t -s --signal")).operands
    return [EffectKey(STOP, f"process_{name}") for name in names]


def database_place(host: str, port: str = "", name: str = "") -> str:
    """`db:db.example/shop`: this machine's own server has no name."""
    host = "" if host in LOCAL or host.startswith("/") else host.casefold()
    server = f"{host}:{port}" if port not in ("", "5432", "3306", "6379", "27017") else host
    return f"db:{server}/{name}" if name else f"db:{server}"


def _dropdb(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    found = options(command.words, valued("-h --host -p --port -U --username --maintenance-db -u -P"))
    names = [name for name in found.operands if name != "drop"] if "drop" in found.operands else found.operands
    if command.program == "mysqladmin" and "drop" not in found.operands:
        return []
    place = database_place(
        found.value("-h", "--host") or dict(command.env).get("PGHOST", ""), found.value("-p", "-P", "--port") or ""
    )
    return [EffectKey(REMOVE, f"database_{normal_spelling(name)}", place) for name in names]


# All other programs, by their own verb: `gh repo delete org/app`, `aws rds delete-db-instance`, `heroku apps:destroy shop`.


def _by_verb(command: Command) -> list[EffectKey]:
    found = _verb(command.words)
    if found is None:
        return []
    name, rest = found
    family = _family(name)
    if not family:
        return []
    ids = sorted({normal_spelling(word) for word in redact(["", *rest])[1:] if word} - {""})
    thing = _thing(name)
    located = [word for word in rest if "://" in word]
    if len(located) == 1:
        return [EffectKey(family, located[0].rstrip("/"))]
    hosted = thing == "repo" and len(ids) == 1 and "/" in ids[0]
    target = f"{thing}_{'_'.join(ids)}".strip("_")[:_LONGEST]
    return [EffectKey(family, target, FORGE if hosted else command.cwd)] if ids else []


def _verb(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """The first words up to a verb, as the name of an operation; and the values behind it."""
    plain = [word for word in words if not word.startswith("-")]
    for at, word in enumerate(plain[:5]):
        parts = [part for part in _PARTS.split(word.lower()) if part]
        verb = next((part for part in parts if verb_kind(part) in _VERBS or part == "rb"), "")
        if verb:
            others = [part for part in parts if part != verb]
            thing = others or [part for part in _PARTS.split(plain[at - 1].lower()) if part][-1:] if at else others
            values = [word.partition("=")[2] for word in words if word.startswith("-") and "=" in word]
            return "_".join(["delete" if verb == "rb" else verb, *thing]), [*plain[at + 1 :], *values]
    return None


@lru_cache(maxsize=512)
def _act(name: str) -> Effect | None:
    """What an operation of this name announces, by the lexicon of names."""
    for fact in read(operation(name, {})).facts:
        if isinstance(fact, Effect) and fact.verb.startswith("act_"):
            return fact
    return None


def _family(name: str) -> str:
    act = _act(name)
    return FAMILIES.get(act.verb, "") if act is not None else ""


def _thing(name: str) -> str:
    act = _act(name)
    return noun(act.target) if act is not None else ""


_Reader = Callable[[Command, Sequence[Command]], list[EffectKey]]
_READERS: Mapping[str, _Reader] = MappingProxyType(
    {
        "git": _git, "pulumi": _pulumi, "helm": _helm, "docker-compose": _compose, "dropdb": _dropdb, "mysqladmin": _dropdb,
        **dict.fromkeys(("terraform", "tofu", "opentofu", "terragrunt"), _terraform),
        **dict.fromkeys(("cdk", "cdktf", "sam", "serverless", "sls", "sst", "copilot", "vagrant", "helmfile"), _stack),
        **dict.fromkeys(("kubectl", "oc", "k", "k3s-kubectl", "microk8s.kubectl"), _kubectl),
        **dict.fromkeys(("docker", "podman", "nerdctl"), _docker),
        **dict.fromkeys(("systemctl", "service", "rc-service", "supervisorctl", "launchctl", "pm2", "sv", "initctl"), _service),
        **dict.fromkeys(("pkill", "killall"), _processes),
    }
)  # fmt: skip
