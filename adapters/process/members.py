"""
The processes of a session: a group, and the groups that members of it have made since.

`timeout` runs its command in a group of its own, and so does a shell with job control (`set -m`); a
signal to the first group does not reach those. They stay in its session.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROCESSES = "/proc"


def living(session: int) -> bool:
    """
    Whether a process of *session* is alive. A dead one that its new parent has not reaped is not.

    Where there is no /proc, only its first group is seen.
    """
    if not os.path.isdir(PROCESSES):
        return _group_exists(session)
    return any(not _is_dead(process) for process in _members(session))


def send(session: int, number: int) -> None:
    """Send the signal *number* to all processes of *session*."""
    # The group may end, or hold only processes of another user, at this very moment.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(session, number)
    if sys.platform == "linux" and os.path.isdir(PROCESSES):
        for process in _members(session):
            with suppress(ProcessLookupError, PermissionError):
                _send_outside(process, session, number)


if sys.platform == "linux":

    def _send_outside(process: int, session: int, number: int) -> None:
        """Send to *process* if it is in *session* and not in its first group, which has got the signal."""
        handle = os.pidfd_open(process)  # from here on its number means no other process
        try:
            if os.getsid(process) == session and os.getpgid(process) != session:
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


def _members(session: int) -> Iterator[int]:
    for name in os.listdir(PROCESSES):
        # A process may have ended since it was listed.
        with suppress(ProcessLookupError, PermissionError):
            if name.isdigit() and os.getsid(int(name)) == session:
                yield int(name)


def _is_dead(process: int) -> bool:
    try:
        text = Path(PROCESSES, str(process), "stat").read_bytes()
    except OSError:  # ended since it was listed
        return True
    # pid (name, which may hold anything) state …
    return text[text.rindex(b")") + 1 :].split()[0] in (b"Z", b"X")


def _group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # there are some, of another user
        return True
    return True
