"""The library as other programs call it; the command line is its first caller. `c2s` exports its names."""
