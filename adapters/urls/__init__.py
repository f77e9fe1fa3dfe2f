"""URLs read by the URL standard."""
