"""The workspace on a real disk, opened so that no path can be swapped for a link on the way."""
