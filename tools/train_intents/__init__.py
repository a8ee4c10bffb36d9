"""How the second opinion on intents is made and measured; a tool for developers, so outside the package and its wheel."""
