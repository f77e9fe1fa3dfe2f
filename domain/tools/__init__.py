"""Built-in tools, each written against ports only."""
