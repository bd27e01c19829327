"""Panels of the judge study."""
