"""HTTP plumbing that the server, the hooks and the console share."""
