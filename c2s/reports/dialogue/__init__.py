"""Endpoints of the dialogue panels."""
