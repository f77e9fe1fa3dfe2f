"""The heart: values, policy, the turn machine and the built-in tools."""
