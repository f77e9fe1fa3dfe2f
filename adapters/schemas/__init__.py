"""Checks of tool arguments against JSON schemas."""
