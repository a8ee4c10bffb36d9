"""Trains and measures the classifier of intents; a developer's tool, so outside the package and its wheel."""
