"""The pages of the console."""
