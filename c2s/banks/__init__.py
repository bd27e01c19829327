"""The frozen files of items that a run reads, and their loaders."""
