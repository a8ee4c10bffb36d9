"""MCP servers: over stdio as clients of the daemon, and over HTTP inside it."""
