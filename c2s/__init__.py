"""c2s: which correct choices survive another output interface.

Importing this package loads nothing heavy; `c2s.stats` and `c2s.kernels` load the compiled core.
"""

__version__ = "0.1.0"
