"""Adapter files as an MCP-AQL server: every operation is asked about first, then performed over HTTP."""
