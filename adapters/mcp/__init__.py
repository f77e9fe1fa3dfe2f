"""Tool servers that speak the Model Context Protocol, over stdio and Streamable HTTP."""
