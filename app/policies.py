"""The permission policy that settings ask for."""

import re

_RULE = re.compile(r"[A-Za-z_*][\w.*-]*(\(.+\))?", re.DOTALL)


def rule_fault(text: str) -> str | None:
    """What is wrong with a rule as a person wrote it, None if nothing is."""
    if _RULE.fullmatch(text.strip()):
        return None
    return f"{text!r} is no rule; expected Tool or Tool(specifier), as in Bash(git status:*) or Read(src/**)"
