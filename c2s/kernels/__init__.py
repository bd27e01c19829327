"""Validated, typed doors to the compiled core. Nothing else imports `c2s._core`."""
