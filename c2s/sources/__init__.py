"""Where the parents of a panel come from: the natural bank, frozen rows, dialogues, judge sources and judge items."""
