"""Shell commands as real process groups, and children that do a part of our own work."""
