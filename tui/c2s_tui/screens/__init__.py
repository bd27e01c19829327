"""One screen a file. Threads read, messages carry what they read, handlers show it."""
