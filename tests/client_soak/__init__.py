"""Our clients, in four languages, against a server with faults. README.md describes it."""
