"""Journals: where sessions are kept. `sqlite` is the embedded default."""
