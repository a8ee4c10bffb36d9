"""Ready pieces for agent frameworks, each in a file that is imported only where the framework is installed."""
