"""Models: how the bytes of a request reach one and how its answer comes back. Nothing here scores or retries."""
