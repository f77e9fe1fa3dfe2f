"""PDFs as text: pypdf, in a process of its own that can only read and can be killed."""
