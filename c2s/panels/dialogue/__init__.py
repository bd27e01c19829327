"""Panels of dialogue states."""
