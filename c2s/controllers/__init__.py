"""Arms: one generator per output interface, and `ParentProgram`, which runs the arms of one parent."""
