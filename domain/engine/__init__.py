"""The turn machine, its driver and sessions."""
