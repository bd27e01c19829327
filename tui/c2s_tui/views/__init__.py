"""From what was read to lines of text: pure functions, the same for the screen and for `--once`. No Textual here."""
