"""The comparison: servers side by side on one machine, one under load at a time."""
