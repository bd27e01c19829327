"""Results from outcome rows alone: no clock, no bodies, so equal outcomes give equal bytes."""
