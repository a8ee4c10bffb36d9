"""What the readers of small languages share: tokens, values, and a walk that follows them."""
