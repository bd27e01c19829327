"""The figures that the two papers print, recomputed from the counts that they print."""
