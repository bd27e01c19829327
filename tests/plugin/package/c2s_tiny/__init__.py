"""A model, a panel and a source of parents for c2s."""
