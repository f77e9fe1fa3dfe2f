"""
Write docs/profiles.md from the providers' profiles.

Without an option it fails when the page is not up to date; with --write it writes it.
"""

import sys
from pathlib import Path

from attrs import fields

from norma.adapters.wires.losses import TABLE
from norma.adapters.wires.profiles import COMPATIBLE, PROFILES, Profile

PAGE = Path(__file__).resolve().parent.parent / "docs" / "profiles.md"

HEAD = """\
# Provider profiles

How services that speak a common wire differ, as data: `adapters/wires/profiles.py`. A profile is taken by the
name in `models.<name>.profile`, else by the host of the base URL, else it is `compatible`. Any field can be
set otherwise, and `norma probe model` says what a service seems to want:

```toml
[models.mine]
wire = "openai-chat"
base_url = "https://models.example/v1"
model = "large"
[models.mine.overrides]
token_limit_key = "max_completion_tokens"
extra_headers = { X-Team = "blue" }
```

Only what differs from `compatible` is listed. A pattern is of models' names.
"""

LOSSES = """
## What a wire can't carry

A session can move from wire to wire. What the next one can't take is translated or left out, and each loss is
in the request's report (`norma reply --print-request`).

| | {wires} |
| --- |{bars}
"""


def page() -> str:
    """The whole page."""
    return HEAD + "".join(_profile(profile) for profile in PROFILES) + _losses()


def _profile(profile: Profile) -> str:
    rows = [("hosts", ", ".join(profile.hosts))] if profile.hosts else []
    rows += [
        (field.name, _shown(getattr(profile, field.name)))
        for field in fields(Profile)
        if field.name not in ("name", "hosts", "models")
        and (profile is COMPATIBLE or getattr(profile, field.name) != getattr(COMPATIBLE, field.name))
    ]
    rows += [
        (f"`{rule.pattern}`", ", ".join(f"{name} {_shown(value)}" for name, value in rule.changes.items()))
        for rule in profile.models
    ]
    table = "".join(f"| {name} | {value} |\n" for name, value in rows)
    return f"\n## {profile.name}\n\n| field | value |\n| --- | --- |\n{table}"


def _shown(value: object) -> str:
    if isinstance(value, frozenset | tuple):
        return ", ".join(sorted(map(str, value))) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in (None, "", {}):
        return "none"
    return f"`{value}`" if isinstance(value, str) else str(value)


def _losses() -> str:
    wires = list(TABLE)
    out = LOSSES.format(wires=" | ".join(wires), bars=" --- |" * len(wires))
    for kind in TABLE[wires[0]]:
        cells = [f"{' or '.join(sorted(TABLE[wire][kind].fates))}: {TABLE[wire][kind].why}" for wire in wires]
        out += f"| {kind} | {' | '.join(cells)} |\n"
    return out


def main() -> int:
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") != page():
        print("docs/profiles.md is not up to date; python tools/profiles_page.py --write mends it")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
