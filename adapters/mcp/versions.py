"""Versions of the protocol, in its two generations."""

HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Agreed on by `initialize`, newest first. Any of them is accepted."""

STATELESS = "2026-07-28"
"""Without a handshake: every request says its version. Used only when asked for (contract P1)."""

KNOWN = (*HANDSHAKE, STATELESS)

CLIENT = {"name": "norma", "version": "0.2"}


def spoken() -> str:
    """What this client speaks, for error messages."""
    return ", ".join(sorted(KNOWN))
