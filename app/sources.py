"""
Where settings come from: a file, the environment, arguments. Each source gives one layer.

A layer is read and checked for form here; whether its keys and values mean something is for
`filling` to say, over all layers together, so that a person sees every fault at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field

from norma.app.settings import Scope
from norma.domain.model.values import frozen

PREFIX = "NORMA__"
"""Of the environment only names that start so are settings; NORMA_DISABLE_RIPGREP and others are not."""


@frozen
class Layer:
    """
    What one source said: *values* nested as in the file. Relative paths start at *folder*; its
    permission rules belong to *scope*.

    *faults* are what could not be read at all.
    """

    name: str
    values: Mapping[str, Any] = field(factory=dict)
    folder: Path = field(factory=Path.cwd)
    faults: tuple[str, ...] = ()
    scope: Scope = "user"


def file_layer(path: Path, name: str | None = None) -> Layer:
    """The layer of a settings file; one that can't be read or parsed is a fault."""
    name = name or str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        return Layer(name, faults=(f"{path}: the settings file can't be read: {error.strerror}",))
    return bytes_layer(data, path, name)


def bytes_layer(data: bytes, path: Path, name: str) -> Layer:
    """The layer of a settings file at *path* that has been read already."""
    import tomllib

    folder = path.absolute().parent
    try:
        return Layer(name, tomllib.loads(data.decode()), folder)
    except UnicodeDecodeError as error:
        return Layer(name, {}, folder, (f"{path}: not UTF-8 text (at byte {error.start})",))
    except tomllib.TOMLDecodeError as error:
        return Layer(name, {}, folder, (f"{path}: not TOML: {error}",))


def environment_layer(environ: Mapping[str, str]) -> Layer:
    """The layer of `NORMA__SECTION__KEY` variables, each holding a TOML value."""
    import tomllib

    values: dict[str, Any] = {}
    faults: list[str] = []
    for variable in sorted(environ):
        if variable.startswith(PREFIX):
            steps = [step.lower() for step in variable[len(PREFIX) :].split("__")]
            try:
                value = tomllib.loads(f"value = {environ[variable]}")["value"]
            except tomllib.TOMLDecodeError:
                faults.append(_no_toml(variable))
                continue
            if not all(steps) or not _put(values, steps, value):
                faults.append(f"{variable}: no setting can have this name")
    return Layer("the environment", values, Path.cwd(), tuple(faults))


def assignments_layer(assignments: Iterable[str]) -> Layer:
    """The layer of `--set KEY=VALUE` arguments: a dotted key and a TOML value each."""
    import tomllib

    values: dict[str, Any] = {}
    faults: list[str] = []
    for text in assignments:
        try:
            given = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            faults.append(_no_toml(f"--set {text.partition('=')[0]}"))
            continue
        if not given:
            faults.append(f"--set {text!r}: expected KEY=VALUE")
        values = merged(values, given)
    return Layer("the command line", values, Path.cwd(), tuple(faults), "session")


def with_rules(layer: Layer, *, allow: Sequence[str], ask: Sequence[str], deny: Sequence[str]) -> Layer:
    """*layer* with further permission rules."""
    rules = {name: list(given) for name, given in (("allow", allow), ("ask", ask), ("deny", deny)) if given}
    return evolve(layer, values=merged(layer.values, {"permissions": rules})) if rules else layer


def _no_toml(where: str) -> str:
    return (
        f"""{where}: the value is not TOML; text needs its own quotes, as in '"plan"', and a list brackets"""
    )


def _put(values: dict[str, Any], steps: Sequence[str], value: Any) -> bool:
    """Set a nested value; False if something that is no table stands in the way."""
    *above, last = steps
    for step in above:
        values = values.setdefault(step, {})
        if not isinstance(values, dict):
            return False
    values[last] = merged(values[last], value) if isinstance(values.get(last), dict) else value
    return True


RULE_LISTS = (("permissions", "allow"), ("permissions", "ask"), ("permissions", "deny"))


def merged(below: Any, above: Any, at: tuple[str, ...] = ()) -> Any:
    """*above* laid over *below*: tables key by key, rules added, everything else replaced."""
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        both = dict(below)
        for key, value in above.items():
            both[key] = merged(below[key], value, (*at, key)) if key in below else value
        return both
    if at in RULE_LISTS and isinstance(below, list | tuple):
        # Rules of different sources add up: nothing that is laid over a denial takes it away.
        return [*below, *above] if isinstance(above, list | tuple) else above
    return above


_PATHS = (
    ("network", "ca_file"),
    ("workspace", "roots"),
    ("journal", "path"),
    ("embedded", "gguf"),
    ("models", "*", "api_key_file"),
    ("mcp", "servers", "*", "cwd"),
)


def with_absolute_paths(layer: Layer) -> Mapping[str, Any]:
    """The layer's values, with each path in them made absolute from the layer's folder; `~/` is the home."""
    values = dict(layer.values)
    for steps in _PATHS:
        values = _absolute(values, steps, layer.folder)
    return values


def _absolute(value: Any, steps: Sequence[str], folder: Path) -> Any:
    if not steps:
        if isinstance(value, list | tuple):
            return [_absolute(item, (), folder) for item in value]
        return str(folder / Path(value).expanduser()) if isinstance(value, str) and value else value
    if not isinstance(value, Mapping):
        return value
    keys = [key for key in value if steps[0] in ("*", key)]
    return {**value, **{key: _absolute(value[key], steps[1:], folder) for key in keys}}
