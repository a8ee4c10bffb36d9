"""Python that asks a service for something through its client: what the method says is what is done."""

from __future__ import annotations

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.rules.load import load
from interlock.model import command

RULES = load()


def level(code: str) -> int:
    return int(judge(command(f'python3 -c "{code}"', "/home/dev/app"), RULES).assessment.level)


@each(
    "code, least",
    [
        ("from google.cloud import storage; [b.delete() for b in storage.Client().list_blobs('x')]", 3),
        ("from google.cloud import storage; storage.Client().bucket('x').delete(force=True)", 3),
        ("import stripe; stripe.Refund.create(charge='ch_1')", 2),
        ("import docker; [c.remove(force=True) for c in docker.from_env().containers.list(all=True)]", 3),
        ("import docker; docker.from_env().volumes.prune()", 2),
        ("from kubernetes import client; client.CoreV1Api().delete_namespace('shop')", 2),
        ("from kubernetes import client as k; [k.CoreV1Api().delete_namespace(n.metadata.name) for n in k.CoreV1Api().list_namespace().items]", 3),
        ("from github import Github; Github('t').get_repo('a/b').delete()", 3),
        ("from azure.mgmt.resource import ResourceManagementClient as R; R(c, s).resource_groups.begin_delete('rg')", 2),
    ],
)  # fmt: skip
def test_what_ends_or_takes_away_is_told(code: str, least: int) -> None:
    assert level(code) >= least


@each(
    "code",
    [
        "from google.cloud import storage; print([b.name for b in storage.Client().list_blobs('x')])",
        "import stripe; print(stripe.Charge.list())",
        "import docker; print(docker.from_env().containers.list())",
        "from kubernetes import client; print(client.CoreV1Api().list_pod_for_all_namespaces())",
        "import docker; docker.from_env().containers.run('alpine', 'true')",
        "import networkx as nx; nx.Graph().remove_node(1)",
        "import pandas as pd; pd.read_csv('a').drop(columns=['x'])",
        "def clean():\n    import docker\n    docker.from_env().volumes.prune()",
    ],
)
def test_what_reads_or_makes_and_what_is_never_called_is_not(code: str) -> None:
    assert level(code) <= 1
