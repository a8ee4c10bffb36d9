"""Named operations and tool calls with their parameters -> effects."""
