"""The command line: `interlock WORD …`, in three groups of commands: judge, guard, answer."""
