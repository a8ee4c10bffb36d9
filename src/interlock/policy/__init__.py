"""Decides what must happen before an action may run: assessment x circumstances -> Requirement. Pure."""
