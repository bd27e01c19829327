"""Simulated models of known behaviour, always labelled as such."""
