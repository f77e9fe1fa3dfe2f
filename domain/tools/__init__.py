"""The built-in tools, each written against ports only."""
