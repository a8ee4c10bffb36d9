"""An agent -> the client that its hooks will call: built for good, or only named."""

from __future__ import annotations

from dataclasses import replace

from interlock.agents import Agent, Client
from interlock.agents.contract import CLIENT
from interlock.config import Config
from interlock.doors.hook.wrapper import client_folder

HTTP_COSTS = (
    "a stopped daemon blocks every tool call of the agent: there is no fallback that lets harmless ones through",
    "the port is free while the daemon is down, and whoever takes it then answers in its place: use socket activation, or a port"
    " below 1024 with a daemon that has a user of its own",
)


class NoAddress(ValueError):
    """An agent or a daemon that HTTP hooks cannot be for."""


def built(agent: Agent, config: Config) -> None:
    """Makes the client that `named` names, ready to be called."""
    from interlock.doors.hook.wrapper import build

    made = build(config.folder, config, agent.word)
    assert made.path == named(agent, config, False).path, made.path


def named(agent: Agent, config: Config, http: bool) -> Client:
    """The client by its path, and with HTTP hooks by the daemon's address too; nothing is written."""
    return _addressed(Client(str(client_folder(config) / CLIENT)), agent, config, http)


def _addressed(client: Client, agent: Agent, config: Config, http: bool) -> Client:
    if not http:
        return client
    if not agent.posts:
        raise NoAddress(f"{agent.title} cannot post: its hooks are programs; leave --http out")
    if not config.port:
        raise NoAddress("daemon.port is 0, so the daemon's address changes with every start; give it a port of its own")
    host = f"[{config.host}]" if ":" in config.host else config.host
    return replace(client, url=f"http://{host}:{config.port}")
