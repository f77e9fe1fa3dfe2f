"""The command line: what `norma --help` says, and the words of a command taken apart."""

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from norma.app.reading import Wishes

WIRES = ("anthropic", "openai-chat", "openai-responses")

_ABOUT = """\
An agent in your terminal: it works with a language model, with tools and under your rules.

  norma ask "Where is the turn machine defined?"     one prompt, one answer
  norma chat                                         a conversation
  norma grep 'class \\w+Error' src                    search as the model's Grep does
  norma doctor                                       what is set up, what is missing

Settings come from the user's norma.toml, the one in this folder (once you trust it), a file named
with --settings, the environment (NORMA__SECTION__KEY) and the command line; later ones win.
Without any, Norma takes the model that ANTHROPIC_API_KEY or OPENAI_API_KEY pays for, else a local
server (Ollama, llama.cpp, LM Studio), else a small model that runs in this machine.
"""

_ENDING = """\
Exit status: 0 when it worked, 2 when the command line or the settings are wrong, 1 for every other
failure. With --json stdout holds one JSON object a line and nothing else.
"""


class UsageError(Exception):
    """The command line is wrong; the message says how, and what would be right."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def parse(words: Sequence[str]) -> argparse.Namespace:
    """
    The options of a command, `options.verb` first of all.

    Raises:
        UsageError: the words make no command.
        SystemExit: `--help` or `--version` was asked for and has been printed.
    """
    # A bare --resume must not swallow the prompt behind it; only --resume=ID takes an id.
    return _parser().parse_args(["--resume=" if word == "--resume" else word for word in words])


def wishes_of(options: argparse.Namespace) -> Wishes:
    """What the command line says about settings."""
    return Wishes(
        options.settings,
        options.set,
        options.allow,
        options.ask,
        options.deny,
        options.mode,
        options.mcp_config,
    )


def _parser() -> _Parser:
    parser = _Parser(
        "norma", description=_ABOUT, epilog=_ENDING, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"norma {_version()}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB", title="verbs")
    common = _common()
    for add in (_ask, _chat, _reply, _fetch, _search, _grep, _mcp, _sessions, _probe, _doctor):
        add(verbs, common)
    return parser


def _version() -> str:
    from importlib.metadata import version

    return version("norma-agent")


def _common() -> argparse.ArgumentParser:
    common = _Parser(add_help=False)
    group = common.add_argument_group("options of every verb")
    group.add_argument(
        "--json", action="store_true", help="one JSON object a line on stdout, nothing else there"
    )
    group.add_argument("--settings", metavar="FILE", help="a settings file; naming it means trusting it")
    group.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[],
        help="""one setting, its value in TOML: --set 'journal.path="/tmp/j.db"'""",
    )  # fmt: skip
    group.add_argument(
        "--allow", metavar="RULE", action="append", default=[], help="allow this, as in 'Edit(src/**)'"
    )
    group.add_argument("--ask", metavar="RULE", action="append", default=[], help="ask before this")
    group.add_argument("--deny", metavar="RULE", action="append", default=[], help="never allow this")
    group.add_argument(
        "--mode", metavar="MODE", help="default, accept-edits, plan (read only), dont-ask or bypass"
    )
    group.add_argument("--mcp-config", metavar="FILE", help="tool servers, as other clients write them")
    group.add_argument("--debug", action="store_true", help="show a traceback when something fails")
    return common


def _verb(verbs: Any, common: Any, name: str, about: str, **more: Any) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(
        name, help=about, description=about[0].upper() + about[1:] + ".", parents=[common], **more
    )
    return parser


def _ask(verbs: Any, common: Any) -> None:
    parser = _verb(verbs, common, "ask", "put one prompt and print the answer")
    parser.add_argument("prompt", nargs="?", metavar="PROMPT", help="what to ask; - reads it from stdin")
    _resume(parser)
    _model(parser)


def _chat(verbs: Any, common: Any) -> None:
    parser = _verb(verbs, common, "chat", "hold a conversation in the terminal")
    _resume(parser)
    _model(parser)


def _resume(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--resume", metavar="ID", help="go on with a session: --resume=ID, or the latest of this workspace"
    )


def _model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", metavar="NAME", help="a model from the settings (models.NAME)")


def _reply(verbs: Any, common: Any) -> None:
    parser = _verb(verbs, common, "reply", "make one bare call of a model: no tools run, nothing is kept")
    parser.add_argument(
        "prompt", nargs="?", metavar="PROMPT", help="the user's message; - reads it from stdin"
    )
    _wire(parser)
    parser.add_argument("--no-stream", action="store_true", help="ask for the answer in one piece")
    parser.add_argument("--tools", metavar="FILE", help="a JSON list of name, description and input_schema")
    parser.add_argument("--request", metavar="FILE", help="a JSON request: system, messages, tools, options")
    parser.add_argument(
        "--print-request", action="store_true", help="print what would be sent, and send nothing"
    )


def _wire(parser: argparse.ArgumentParser) -> None:
    """A model that no settings name."""
    parser.add_argument("--wire", choices=WIRES, help="the protocol; needs --model")
    parser.add_argument("--base-url", metavar="URL", help="where the wire's server is, if not at its vendor")
    parser.add_argument(
        "--model", metavar="MODEL", help="with --wire the provider's id, else a name in the settings"
    )
    parser.add_argument("--api-key-env", metavar="VAR", help="the environment variable that holds the key")
    parser.add_argument(
        "--profile", metavar="NAME", help="the provider's profile, when its host does not tell"
    )


def _fetch(verbs: Any, common: Any) -> None:
    parser = _verb(verbs, common, "fetch", "fetch a page of the web as Markdown")
    parser.add_argument("url", metavar="URL", help="with its scheme, as in https://example.com/")
    parser.add_argument(
        "--extract", action="store_true", help="also list comments, scripts, forms, meta tags and links"
    )


def _search(verbs: Any, common: Any) -> None:
    parser = _verb(verbs, common, "search", "search the web")
    parser.add_argument("query", metavar="QUERY", help="what to search for")
    parser.add_argument("--limit", type=_count, metavar="N", help="results at most, 1 to 20 (search.limit)")


def _probe(verbs: Any, common: Any) -> None:
    parser = _verb(verbs, common, "probe", "ask a backend once, to see whether it works")
    parser.add_argument(
        "what", choices=("search", "model"), help="the search backend of the settings, or its models"
    )
    parser.add_argument(
        "query", nargs="?", metavar="QUERY", help="what to search for; the model (all that are configured)"
    )
    _wire(parser)


def _grep(verbs: Any, common: Any) -> None:
    parser = _verb(verbs, common, "grep", "search text in the files of the workspace", add_help=True)
    parser.add_argument("pattern", metavar="PATTERN", help="a regular expression")
    parser.add_argument("path", nargs="?", metavar="PATH", help="a file or folder; the workspace if absent")
    parser.add_argument("--grep-mode", choices=("files", "content", "count"), default="files")
    parser.add_argument("-i", dest="ignore_case", action="store_true", help="upper and lower case are one")
    parser.add_argument("--glob", action="append", default=[], help="only files that match; !GLOB leaves out")
    parser.add_argument("--type", action="append", default=[], help="only files of this type, as in py")
    parser.add_argument("-A", dest="after", type=_count, default=0, metavar="N", help="lines after a match")
    parser.add_argument("-B", dest="before", type=_count, default=0, metavar="N", help="lines before a match")
    parser.add_argument("-C", dest="around", type=_count, metavar="N", help="lines before and after")
    parser.add_argument("--multiline", action="store_true", help="a match may span lines")
    parser.add_argument("--limit", type=_count, default=250, metavar="N", help="rows at most (250; 0: all)")
    parser.add_argument("--offset", type=_count, default=0, metavar="N", help="rows to skip")
    parser.add_argument("--hidden", action="store_true", help="hidden files too")
    parser.add_argument("--no-ignore", action="store_true", help="ignored files too")


def _mcp(verbs: Any, common: Any) -> None:
    parser = _verb(verbs, common, "mcp", "list tool servers, and use one without a model")
    parser.add_argument(
        "action",
        choices=("list", "tools", "call", "probe", "resources", "prompts"),
        help="list: what is set up; tools: what they offer; call SERVER TOOL [ARGS]; probe: whether they "
        "work; resources SERVER [URI]; prompts SERVER [NAME [ARGS]]",
    )
    parser.add_argument("server", nargs="?", metavar="SERVER", help="its name in the settings")
    parser.add_argument("item", nargs="?", metavar="TOOL", help="a tool, the URI of a resource, or a prompt")
    parser.add_argument("arguments", nargs="?", metavar="ARGS", help="a JSON object; - reads it from stdin")


def _sessions(verbs: Any, common: Any) -> None:
    parser = _verb(verbs, common, "sessions", "list the sessions of this workspace")
    parser.add_argument("--all", action="store_true", help="those of every workspace")


def _doctor(verbs: Any, common: Any) -> None:
    _verb(verbs, common, "doctor", "check what is set up, and say what is missing")


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("expected 0 or more")
    return number
