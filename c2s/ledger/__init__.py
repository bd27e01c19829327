"""The run directory: the only contract between the runner, the reports and the terminal UI."""
