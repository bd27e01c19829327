"""What the screens show, read from run directories: short reads, frozen results, no widgets."""
