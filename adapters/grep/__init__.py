"""File search: ripgrep where there is one, the same answers in pure Python where there is none."""
