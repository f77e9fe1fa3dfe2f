"""The `norma` command: one verb a port, each with `--json`."""
