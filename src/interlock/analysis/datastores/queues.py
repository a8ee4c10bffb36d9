"""Commands to queues and key-value services (Kafka, RabbitMQ, NATS, etcd, Consul…) -> effects."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.analysis.facts import Report


def _option(words: Sequence[str], *names: str) -> str:
    """The value of an option, written `--name value` or `--name=value`."""
    for index, word in enumerate(words):
        for name in names:
            if word == name:
                return words[index + 1] if index + 1 < len(words) else ""
            if word.startswith(name + "="):
                return word[len(name) + 1 :]
    return ""


def _has(words: Sequence[str], *names: str) -> bool:
    return any(word.split("=", 1)[0] in names for word in words)


def _plain(words: Sequence[str], takes: frozenset[str] = frozenset()) -> list[str]:
    """The words that are neither options nor an option's value."""
    result: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-") and len(word) > 1:
            skip = word in takes
        else:
            result.append(word)
    return result


_KAFKA_ADMIN = frozenset({"server-stop", "leader-election", "reassign-partitions", "storage"})


def read_kafka(program: str, words: Sequence[str], out: Report) -> None:
    """The kafka-*.sh tools; the name gives the kind of object."""
    tool = program.removesuffix(".sh").removesuffix(".bat").removeprefix("kafka-")
    topic = _option(words, "--topic", "--group")
    if tool == "topics" and _has(words, "--delete"):
        everything = topic in (".*", "*", "")
        out.effect("store_drop", topic, "collection", *(("all",) if everything else ()))
    elif tool == "delete-records":
        out.effect("store_delete", _option(words, "--offset-json-file"))
    elif tool == "consumer-groups" and _has(words, "--delete", "--delete-offsets"):
        out.effect("store_admin", topic)
    elif tool == "consumer-groups" and _has(words, "--reset-offsets"):
        out.effect("store_admin" if _has(words, "--execute") else "store_read", topic)
    elif tool in _KAFKA_ADMIN and not _has(words, "--verify", "--generate"):
        out.effect("store_admin", tool)
    elif tool in ("configs", "acls") and _has(words, "--alter", "--remove", "--add", "--delete-config"):
        out.effect("store_admin", _option(words, "--entity-name", "--topic"))
    elif tool in ("console-producer", "producer-perf-test") or _has(words, "--create", "--alter"):
        out.effect("store_write", topic)
    else:
        out.effect("store_read", topic)


_RABBIT_TAKES = frozenset({
    "-n", "--node", "-p", "--vhost", "-t", "--timeout", "-H", "--host", "-P", "--port", "-u", "--username",
    "--password",
})  # fmt: skip
_RABBIT = {
    "reset": ("store_drop", "all"), "force_reset": ("store_drop", "all"), "delete_vhost": ("store_drop", "database"),
    "delete_queue": ("store_delete",), "purge_queue": ("store_delete", "unfiltered"), "delete_user": ("store_admin",),
    "stop": ("store_admin",), "stop_app": ("store_admin",), "shutdown": ("store_admin",),
    "forget_cluster_node": ("store_admin",),
    "clear_permissions": ("store_admin",), "change_password": ("store_admin",), "set_permissions": ("store_admin",),
    "add_user": ("store_write",), "add_vhost": ("store_write",), "start_app": ("store_write",),
    "set_user_tags": ("store_admin",),
    "clear_policy": ("store_admin",), "set_policy": ("store_admin",), "close_all_connections": ("store_admin",),
    "close_connection": ("store_admin",), "rotate_logs": ("store_write",), "eval": ("store_admin",),
    "clear_password": ("store_admin",),
}  # fmt: skip
_RABBIT_THINGS = {
    "queue": ("store_delete",), "exchange": ("store_delete",), "binding": ("store_delete",), "vhost": ("store_drop",
    "database"),
    "user": ("store_admin",), "permission": ("store_admin",), "policy": ("store_admin",),
}  # fmt: skip


def read_rabbit(program: str, words: Sequence[str], out: Report) -> None:
    """rabbitmqctl and rabbitmqadmin."""
    plain = _plain(words, _RABBIT_TAKES)
    command = plain[0].lower() if plain else ""
    if program == "rabbitmqadmin":
        _read_rabbit_admin(command, plain[1:], out)
        return
    verb, *traits = _RABBIT.get(command, ("store_read",))
    out.effect(verb, plain[1] if len(plain) > 1 else "", *traits)


def _read_rabbit_admin(command: str, rest: Sequence[str], out: Report) -> None:
    name = next((word.split("=", 1)[1] for word in rest if word.startswith("name=")), "")
    thing = rest[0].lower() if rest else ""
    if command == "delete":
        verb, *traits = _RABBIT_THINGS.get(thing, ("store_delete",))
        out.effect(verb, name, *traits)
    elif command == "purge":
        out.effect("store_delete", name, "unfiltered")
    elif command in ("declare", "publish", "import", "close"):
        out.effect("store_admin" if command in ("import", "close") else "store_write", name)
    else:
        out.effect("store_read", name)


_TAKES = {
    "nats": frozenset({"-s", "--server", "--context", "--user", "--password", "--creds", "--nkey", "--subject",
    "--keep", "--timeout"}),
    "etcdctl": frozenset({
        "--endpoints", "--user", "--password", "--cacert", "--cert", "--key", "--command-timeout", "--dial-timeout",
        "-w", "--write-out",
        "--lease", "--range-end",
    }),
    "consul": frozenset({"--http-addr", "--token", "-modify-index", "-flags", "-session", "-token-file"}),
    "influx": frozenset({
        "-o", "--org", "--org-id", "-t", "--token", "--host", "-b", "--bucket", "--bucket-id", "--start", "--stop",
        "-p", "--predicate",
        "-n", "--name", "-i", "--id", "-c", "--active-config", "-r", "--retention",
    }),
    "zookeeper": frozenset({"-server", "-timeout", "-client-configuration"}),
}  # fmt: skip
_ALIASES = dict.fromkeys(("zkcli.sh", "zkcli", "zookeeper-shell", "zookeeper-shell.sh"), "zookeeper")
_CONSUL_ADMIN = frozenset({"leave", "force-leave", "reload", "maint"})
_CONSUL_REMOVES = frozenset({"delete", "restore", "deregister", "remove-peer"})


def read_keys(program: str, words: Sequence[str], out: Report) -> None:
    """nats, etcdctl, zkCli, consul and influx: the words after the name give the target."""
    name = _ALIASES.get(program.lower(), program.lower())
    plain = _plain(words, _TAKES.get(name, frozenset()))
    readers = {"nats": _nats, "etcdctl": _etcd, "zookeeper": _zookeeper, "consul": _consul, "influx": _influx}
    out.step()
    if name in readers:
        readers[name](plain, words, out)
    else:
        out.effect("store_read")


def _nats(plain: Sequence[str], words: Sequence[str], out: Report) -> None:
    thing, verb, target = (*plain[:3], "", "", "")[:3]
    if verb in ("rm", "del", "delete"):
        kinds = {"consumer": "store_delete", "con": "store_delete"}
        key = thing == "kv" and len(plain) > 3 and verb == "del"
        found = "store_delete" if key else kinds.get(thing, "store_drop")
        out.effect(found, target, *(("collection",) if found == "store_drop" else ()))
    elif verb in ("purge", "rmm"):
        narrowed = verb == "rmm" or _has(words, "--subject", "--keep", "--seq") or (thing == "kv" and len(plain) > 3)
        out.effect("store_delete", target, *(() if narrowed else ("unfiltered",)))
    elif thing in ("pub", "publish", "request", "req") or verb in ("add", "create", "put", "edit", "update", "restore"):
        out.effect("store_write", verb if thing in ("pub", "publish") else target)
    else:
        out.effect("store_read", target)


def _etcd(plain: Sequence[str], words: Sequence[str], out: Report) -> None:
    verb, target = (*plain[:2], "", "")[:2]
    if verb in ("del", "rm", "rmdir"):
        wide = _has(words, "--prefix", "--from-key", "--recursive", "-r") and target in ("", "/", "\0")
        out.effect("store_delete", target, *(("unfiltered",) if wide or target == "" else ()))
    elif verb in ("put", "set", "mk", "mkdir", "update", "txn", "lease", "compaction", "defrag"):
        out.effect("store_write", target)
    elif verb in ("member", "auth", "user", "role", "move-leader") and target not in ("list", "status", "get"):
        out.effect("store_admin", f"{verb} {target}")
    elif verb == "snapshot" and target == "restore":
        out.effect("store_admin", "snapshot restore")
    else:
        out.effect("store_read", target)


def _zookeeper(plain: Sequence[str], words: Sequence[str], out: Report) -> None:
    rest = list(plain)
    while rest and (":" in rest[0] and not rest[0].startswith("/")):
        rest.pop(0)  # host:port
    verb, target = (*rest[:2], "", "")[:2]
    if verb in ("deleteall", "rmr"):
        out.effect("store_delete", target, "recursive", *(("unfiltered",) if target in ("/", "") else ()))
    elif verb == "delete":
        out.effect("store_delete", target)
    elif verb in ("create", "set", "setquota", "setacl", "setAcl"):
        out.effect("store_write", target)
    else:
        out.effect("store_read", target)


def _consul(plain: Sequence[str], words: Sequence[str], out: Report) -> None:
    thing, verb, target = (*plain[:3], "", "", "")[:3]
    if thing == "kv" and verb == "delete":
        recursive = _has(words, "-recurse", "--recurse")
        wide = recursive and target in ("", "/")
        out.effect("store_delete", target, *(("recursive",) if recursive else ()), *(("unfiltered",) if wide else ()))
    elif thing == "kv" and verb in ("put", "import"):
        out.effect("store_write", target)
    elif thing in _CONSUL_ADMIN or verb in _CONSUL_REMOVES:
        out.effect("store_admin", f"{thing} {verb}".strip())
    else:
        out.effect("store_read", target)


def _influx(plain: Sequence[str], words: Sequence[str], out: Report) -> None:
    thing, verb = (*plain[:2], "", "")[:2]
    bucket = _option(words, "--bucket", "-b", "--name", "-n", "--id", "-i")
    if thing == "delete":
        out.effect("store_delete", bucket, *(() if _has(words, "--predicate", "-p") else ("unfiltered",)))
    elif thing in ("bucket", "org") and verb == "delete":
        out.effect("store_drop", bucket, "database")
    elif verb == "delete" or thing == "restore":
        out.effect("store_admin", f"{thing} {verb}".strip())
    elif thing == "write" or verb in ("create", "update"):
        out.effect("store_write", bucket)
    else:
        out.effect("store_read", bucket)
