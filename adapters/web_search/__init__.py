"""Backends of web search, each an adapter of one port."""
