"""Models behind an HTTP server, with their keys and provider profiles."""
