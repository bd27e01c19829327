"""c2s-tui: watch runs and browse per-item transitions."""
