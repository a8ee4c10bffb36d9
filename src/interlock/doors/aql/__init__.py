"""MCP-AQL's language: operations, their parameters, envelopes, introspection; no framework and no transport."""
