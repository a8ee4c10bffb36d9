"""The verb of an effect -> its family: verbs that come to the same for whoever said no."""

from __future__ import annotations

from types import MappingProxyType

from interlock.analysis.effect_key.key import GRANT, REMOVE, RUN, SEND, STOP, WRITE

FAMILIES = MappingProxyType({
    "delete": REMOVE, "truncate": REMOVE, "overwrite": REMOVE, "move": REMOVE, "sql_drop": REMOVE, "sql_truncate": REMOVE,
    "sql_delete": REMOVE, "store_drop": REMOVE, "store_delete": REMOVE, "act_delete": REMOVE, "act_disk": REMOVE,
    "act_account": REMOVE, "act_rewrite": REMOVE,
    "write": WRITE, "append": WRITE, "sql_write": WRITE, "sql_update": WRITE, "sql_alter": WRITE, "store_write": WRITE,
    "send": SEND, "act_leak": SEND, "act_send": SEND,
    "kill": STOP, "sql_kill": STOP, "act_terminate": STOP,
    "chmod": GRANT, "chown": GRANT, "sql_grant": GRANT, "act_escalate": GRANT,
    "act_revoke": "revoke", "act_invalidate": "revoke", "sql_revoke": "revoke", "act_pay": "pay", "act_block": "ban",
    "act_unconfigure": "disable", "act_override": "disable", "http": "request", "run_download": RUN,
    "read": "read", "sql_read": "read", "store_read": "read", "fetch": "read",
})  # fmt: skip
READS = frozenset({"read", "fetch", "sql_read", "store_read"})
SILENT = frozenset(
    {"act_read", "act_change", "act_vague", "declared", "unreadable"}
)  # none of these says what is done to what
