"""Endpoints and pages of the judge study."""
