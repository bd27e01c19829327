"""Typed functions over the compiled core that check their arguments. Nothing else imports `c2s._core`.

Import the module that you need (`c2s.kernels.carry`, `.geometry`, `.support`, ...): this package loads none of them by itself.
Every kernel has a slow plain-Python twin that it is tested against, in `c2s.kernels.reference` or `reference_stats`.
"""
