"""Commands that put the gate in front of agents: daemon, hooks, proxy, jail, configuration and policy."""
