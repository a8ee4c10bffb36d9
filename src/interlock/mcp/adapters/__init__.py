"""Adapter files served as an MCP-AQL server."""
