"""Endpoints of the panels of Choice2Seq."""
