"""
Contract kits: the promises of each port as small checks that run offline.

One module a port. Each has a rig (an adapter in a known situation, and what the checks must see of
its surroundings) and `CHECKS`, a tuple of async functions that take a rig and raise AssertionError
with the promise that was broken. `norma.ports.contracts.pytest` runs them; so may anybody who
implements `tasks.Tasks` for his event loop.
"""
