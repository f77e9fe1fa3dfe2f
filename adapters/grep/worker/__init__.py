"""
The pure Python search, run as a process of its own.

Above: `adapters.grep.builtin`, which starts it, gives it one query on stdin and reads its rows.
Below: the files of one folder, opened for reading. Standard library only, so that it starts fast.
"""
