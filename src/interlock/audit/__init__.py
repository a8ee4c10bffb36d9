"""The tamper-evident record of decisions and events."""
