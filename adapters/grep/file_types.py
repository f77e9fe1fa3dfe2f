"""
The names that a search's *types* may have, and the files each stands for.

ripgrep has such a table too, but it changes from release to release, so both backends are given this one.
"""

GLOBS: dict[str, tuple[str, ...]] = {
    "c": ("*.c", "*.h"),
    "cmake": ("*.cmake", "CMakeLists.txt"),
    "cpp": ("*.cc", "*.cpp", "*.cxx", "*.c++", "*.h", "*.hh", "*.hpp", "*.hxx", "*.inl"),
    "cs": ("*.cs",),
    "css": ("*.css", "*.scss", "*.sass", "*.less"),
    "csv": ("*.csv",),
    "dart": ("*.dart",),
    "docker": ("Dockerfile", "*.dockerfile", "Dockerfile.*", "Containerfile"),
    "elixir": ("*.ex", "*.exs", "*.eex", "*.heex"),
    "erlang": ("*.erl", "*.hrl"),
    "go": ("*.go",),
    "graphql": ("*.graphql", "*.gql"),
    "haskell": ("*.hs", "*.lhs"),
    "html": ("*.html", "*.htm", "*.xhtml"),
    "java": ("*.java",),
    "js": ("*.js", "*.jsx", "*.mjs", "*.cjs", "*.vue"),
    "json": ("*.json", "*.jsonl", "*.json5"),
    "julia": ("*.jl",),
    "kotlin": ("*.kt", "*.kts"),
    "lua": ("*.lua",),
    "make": ("Makefile", "makefile", "GNUmakefile", "*.mk", "*.mak"),
    "md": ("*.md", "*.markdown", "*.mdx"),
    "nix": ("*.nix",),
    "perl": ("*.pl", "*.pm", "*.t"),
    "php": ("*.php", "*.phtml"),
    "proto": ("*.proto",),
    "py": ("*.py", "*.pyi"),
    "r": ("*.r", "*.R", "*.Rmd"),
    "rst": ("*.rst",),
    "ruby": ("*.rb", "*.rake", "*.gemspec", "Gemfile", "Rakefile"),
    "rust": ("*.rs",),
    "scala": ("*.scala", "*.sbt"),
    "sh": ("*.sh", "*.bash", "*.zsh", "*.ksh", ".bashrc", ".zshrc", ".profile"),
    "sql": ("*.sql",),
    "svelte": ("*.svelte",),
    "swift": ("*.swift",),
    "tex": ("*.tex", "*.bib", "*.sty", "*.cls"),
    "tf": ("*.tf", "*.tfvars"),
    "toml": ("*.toml", "Cargo.lock"),
    "ts": ("*.ts", "*.tsx", "*.mts", "*.cts"),
    "txt": ("*.txt",),
    "vue": ("*.vue",),
    "xml": ("*.xml", "*.xsd", "*.xsl", "*.xslt", "*.svg"),
    "yaml": ("*.yaml", "*.yml"),
    "zig": ("*.zig",),
}
OTHER_NAMES = {
    "bash": "sh",
    "javascript": "js",
    "markdown": "md",
    "python": "py",
    "rb": "ruby",
    "rs": "rust",
    "shell": "sh",
    "typescript": "ts",
    "yml": "yaml",
}


def globs_of(types: tuple[str, ...]) -> tuple[str, ...]:
    """
    The globs of all *types*; a name that the table doesn't know is a file's ending.

    Raises ValueError for a name that can't be an ending.
    """
    found: list[str] = []
    for name in types:
        known = GLOBS.get(OTHER_NAMES.get(name, name))
        if known is None and not name.replace("+", "").replace("_", "").replace("-", "").isalnum():
            raise ValueError(
                f"{name!r} is no file type: use a name such as py, ts or rust, or a glob instead"
            )
        found += known or (f"*.{name}",)
    return tuple(dict.fromkeys(found))
