"""The execution safety loop: executions, reported steps, notices, confirmations and blocks; its MCP-AQL protocol is in protocol/."""
