"""Pages of the web as Markdown: requests that are judged hop by hop, and what reads the bodies."""
