"""The screen: a table of runs, read again every second."""

from __future__ import annotations

from pathlib import Path

from c2s.reports.tables import literal
from rich.text import Text
from textual.app import App, ComposeResult
from textual.widgets import DataTable, Footer, Header, Static

from c2s_tui.runs import HEADER, RunsError, cells, find_runs


class RunsApp(App[None]):
    """`q` ends it. What comes from a run is shown as data, never as markup."""

    TITLE = "c2s"
    BINDINGS = [("q", "quit", "Quit")]

    def __init__(self, root: Path, refresh_s: float = 1.0) -> None:
        super().__init__()
        self.root, self.refresh_s = root, refresh_s
        self.sub_title = literal(str(root))

    def compose(self) -> ComposeResult:
        yield Header()
        yield DataTable(cursor_type="row", zebra_stripes=True)
        yield Static(id="notes", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(DataTable).add_columns(*HEADER)
        self.query_one("#notes").styles.dock = "bottom"
        self.show()
        self.set_interval(self.refresh_s, self.show)

    def show(self) -> None:
        """Read the folder and lay the rows out anew; the cursor keeps its place."""
        table = self.query_one(DataTable)
        try:
            runs, notes = find_runs(self.root), []
        except RunsError as error:
            runs, notes = [], [str(error)]
        here = table.cursor_row
        table.clear()
        for row in runs:
            table.add_row(*(Text(literal(cell)) for cell in cells(row)))
        table.move_cursor(row=here)
        notes += [f"{row.name}: {row.note}" for row in runs if row.note]
        if not runs and not notes:
            notes = ["No run directory in this folder."]
        self.query_one("#notes", Static).update("\n".join(literal(note) for note in notes))
