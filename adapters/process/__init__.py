"""Shell commands as real process groups."""
