"""Widgets that draw lines."""
