"""The Anthropic Messages wire, as Anthropic and others speak it (contract A)."""
