"""Permission rules, modes and verdicts: pure functions over parsed values."""
