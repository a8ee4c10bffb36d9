"""Words of the trade that engineers use in every language, and what the names of files stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping

NOUNS: Mapping[str, str] = {
    "data": "topic topics dump dumps queue queues kafka rabbitmq sqs inbox sharepoint onedrive dropbox gdrive drive dataset datasets excel csv"
    " branch branches stash commit commits wiki confluence jira changeset export playlist partitions blob mailbox tickets leads index records"
    " pvcs wal binlog shard shards savegame savegames nextcloud",
    "data database": "elasticsearch opensearch clickhouse cassandra mongodb postgresql mariadb sqlite dynamodb firestore firebase supabase cosmosdb"
    " rds aurora snowflake bigquery redshift neo4j influxdb mysql postgres oracle mongo redis memcached keyspace db database databases warehouse"
    " datalake",
    "data table": "collection collections",
    "data bucket": "bucket buckets s3 minio gcs s3-bucket s3-buckets blobstore",
    "data volume": "pvc volume volumes lvm raid ebs",
    "data repository": "repo repos repository repositories",
    "data backup": "backup backups snapshot snapshots velero restic veeam",
    "resource": "server servers vm vms ec2 instance instances container containers pod pods deployment deployments daemonset statefulset namespace"
    " namespaces lambda droplet droplets host hosts node nodes vpc stack stacks nginx apache plc scada gateway proxy worker workers vps"
    " loadbalancer",
    "resource cluster": "cluster clusters kubernetes k8s eks gke aks",
    "safety": "firewall iptables ufw firewalld selinux apparmor waf mfa 2fa antivirus edr defender crowdstrike captcha fail2ban siem rate-limit"
    " interlock interlocks failsafe guardrail guardrails watchdog healthcheck",
    "credential": "token tokens api-key api-keys apikey apikeys accesskey vault secret secrets keystore jwt credentials password passwords ssh-key"
    " ssh-keys kubeconfig wallet keepass xkeyfile xsecret",
    "config": "dns webhook webhooks cron crontab terraform tfstate sudoers htaccess xconfigfile haproxy",
    "log audit_log": "auditlog auditlogs audit-log audit-logs syslog auditd cloudtrail xlogfile",
    "access": "vpn sso ldap",
    "disk": "ssd hdd usb nvme nas",
    "device": "router routers switch firmware iot",
    "code": "import imports readme docstring changelog refactor lint linter typo pr alias playground mock mocks fixture fixtures endpoint frontend css html string"
    " strings regex enum wrapper hook hooks sprint breakpoint debugger",
    "scrap": "node_modules cache caches tmp dist xscrapfile venv localhost",
    "money": "paypal stripe iban bitcoin btc eth crypto",
}
VERBS: Mapping[str, str] = {
    "destroy": "drop truncate delete",
    "wipe": "wipe purge flush flushall flushdb",
    "reset": "reset",
    "stop": "kill shutdown destroy",
    "rewrite history": "force-push forcepush",
    "grant admin": "xopenmode",
    "format": "xformat",
}
ROLES: Mapping[str, str] = {"trial": "xdryrun dry-run"}
# What the name of a file stands for; each is read as the word beside it.
_FILES = (
    ("xkeyfile", r"\.(?:pem|key|p12|pfx|kdbx|jks)$|id_(?:rsa|ed25519|ecdsa)|^\.?env$|\.env(?:\.\w+)?$|credentials(?:\.\w+)?$|\.pgpass$|\.aws/"),
    ("xlogfile", r"/var/log|auth\.log|audit\.log|secure\.log|\.bash_history|\.zsh_history|lastlog|wtmp"),
    ("xscrapfile", r"node_modules|__pycache__|\.venv|\.next(?:/|$)|\.cache|^/tmp/|\.pytest_cache|^(?:dist|build|target|out|coverage)/?$"),
    ("xconfigfile", r"\.(?:conf|cfg|cnf|ini|htaccess)$|/etc/[\w./-]*\w|pg_hba|sudoers|fstab|crontab"),
    ("xforce", r"^--force$"),
    ("xdryrun", r"^--?(?:dry-?run|whatif|what-if|simulate)$"),
    ("xworld", r"^0\.0\.0\.0(?:/0)?$|^::/0$"),
    ("xformat", r"^mkfs(?:\.\w+)?$"),
    ("xopenmode", r"^0?777$"),
)  # fmt: skip
_NAMES = tuple((word, re.compile(pattern)) for word, pattern in _FILES)
HINTS = re.compile(
    r"\.(?:pem|key|p12|pfx|kdbx|jks|env|log|conf|cfg|cnf|ini|aws|venv|next|cache|htaccess|pgpass|bash_h|zsh_h|pytest)|id_(?:rsa|ed|ec)"
    r"|node_modules|__pyc|777|/(?:var/log|tmp/|etc/)|pg_hba|credentials|(?:dist|build|target|out|coverage)/|lastlog|wtmp|mkfs|--dry|--sim|-[Ww]hat|--what|--force|0\.0\.0\.0|::/0"
)


def with_files_as_words(text: str) -> str:
    """The text with the names of telling files replaced by the word that they are read as."""
    return " ".join(map(_word, text.split(" "))) if HINTS.search(text) else text


def _word(token: str) -> str:
    name = token.strip("\"'`“”«»,;:!?()").rstrip(".").lower()
    if not name or len(name) > 200:
        return token
    return next((word for word, pattern in _NAMES if pattern.search(name)), token)
