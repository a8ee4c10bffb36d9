"""Calls on the clients of services (Kubernetes, Docker, Stripe, Google, GitHub…) -> the operation that they ask for."""

from __future__ import annotations

import re

from interlock.core.read.inline.python.chains import links
from interlock.core.read.inline.python.objects import Call
from interlock.core.read.inline.python.values import UNKNOWN, Sym, Value, text_of
from interlock.core.read.inline.python.walk import Walk

# Libraries that do nothing but ask a service for something: what their methods are called is what is done.
_LIBRARIES = re.compile(
    r"(?:google\.cloud|googleapiclient|azure|msgraph|kubernetes|docker|podman|stripe|paypalrestsdk|square|adyen|braintree|github|gitlab|"
    r"slack_sdk|slack|discord|twilio|sendgrid|mailchimp\w*|digitalocean|pydo|hcloud|linode_api4|openstack|cloudflare|CloudFlare|qdrant_client|"
    r"pinecone|weaviate|chromadb|notion_client|jira|atlassian|simple_salesforce|shopify|auth0|okta|firebase_admin|supabase|heroku3|proxmoxer|"
    r"hvac|consul|kazoo|airtable|pyairtable|hubspot|zenpy|minio|b2sdk|dropbox|boxsdk|oss2|todoist\w*|asana|trello|pagerduty|pdpyras)\b"
)
_DOES = frozenset(
    "delete remove destroy terminate purge drop revoke cancel refund prune kill wipe reset disable suspend truncate uninstall "
    "deactivate ban expire detach rollback".split()
)
_PAYS = frozenset({"Refund", "Payout", "Transfer", "Charge", "PaymentIntent"})
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FILLER = re.compile(
    r"^(?:list|get|from_env|client|api|all|filter|items|objects|search|iter|auto_paging_iter|[A-Z]\w*(?:Api|Client|Service))(?:_|$)"
)
_LISTS = re.compile(r"^(?:list|get|iter|search)_(?:all_)?")


def asked_of_service(walk: Walk, call: Call) -> Value:
    """Tell what a service is asked to end, take away or pay; UNKNOWN for what only reads or makes, and for other libraries."""
    if walk.world.idle or not _LIBRARIES.match(call.path):
        return UNKNOWN
    words = _HUMP.sub("_", call.name).lower().removeprefix("begin_").split("_")
    noun = _noun(call)
    if words[0] not in _DOES and not (words[0] == "create" and noun in {one.lower() for one in _PAYS}):
        return UNKNOWN
    many = "bulk_" if ".[]" in call.path else ""
    name = "_".join(words) if len(words) > 1 else f"{words[0]}_{noun}"
    from interlock.core.read.operation import read_operation

    read_operation(f"{many}{name}", {key: text_of(value) for key, value in call.named.items()}, "", walk.world.out)
    return Sym("?")


def _noun(call: Call) -> str:
    """What the method is called on: `containers.list()[0].remove` is about a container."""
    for link in links(call.owner):
        name = _LISTS.sub("", link.name.removesuffix("()"))
        if name and name != "[]" and not _FILLER.match(name):
            return _HUMP.sub("_", name).lower().removesuffix("s")
    return "item"
