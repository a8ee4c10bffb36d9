"""A gate in front of any MCP server: every `tools/call` is judged, everything else passes."""
