"""The OpenAI Chat Completions wire, as OpenAI and many others speak it (contract C)."""
