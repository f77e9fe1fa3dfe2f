"""The OpenAI Responses wire, as OpenAI and others speak it (contract R)."""
