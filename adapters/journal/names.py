"""Session names: one rule for every journal (S3)."""

import re

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def checked_session(session: str) -> str:
    """
    *session* itself if it is a valid session id.

    Raises ValueError, whose message names the rule and shows at most the beginning of what came.
    """
    if _NAME.fullmatch(session):
        return session
    shown = session if len(session) <= 40 else session[:40] + "…"
    raise ValueError(
        f"{shown!r} is no session id: it must be 1 to 128 letters, digits, '.', '_' or '-' (ASCII), "
        "the first a letter or a digit"
    )
