"""6 Report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.worker import get_current_worker

from c2s_tui.data.report import ReportView, report
from c2s_tui.screens.base import View, as_text, trouble_lines
from c2s_tui.text import Line, span
from c2s_tui.views.report import report_lines
from c2s_tui.widgets.lines import Text


class ReportScreen(View[ReportView]):
    """The run's report, computed when the screen is opened and on `r`, not all the time; not again where no file has changed."""

    NAME = "report"
    INTERVAL = 1.0
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "refresh", "compute again", tooltip="compute the report from the outcomes of this moment"),
        Binding("y", "copy", "copy", tooltip="copy the report as text"),
        Binding("escape", "back", "back", show=False, tooltip="back to the runs"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.view: ReportView | None = None
        self._of: tuple[object, ...] | None = None

    def body(self) -> Iterable[Widget]:
        yield Text([Line(span(" reading the outcomes ...", "dim"))], id="text")

    def fetch(self, post: Callable[[ReportView], None]) -> ReportView:
        worker = get_current_worker()
        source = self.session.opened.source
        now = (source.path, source.stamp())
        if self.view is not None and self._of == now:
            return self.view
        self._of = now
        return report(source, lambda: worker.is_cancelled)

    def wanted(self) -> bool:
        """Only where the run's files changed and no runner is at work."""
        source = self.session.follower.source if self.session.follower else None
        return source is not None and self._of != (source.path, source.stamp()) and not source.run.running()

    def show(self, result: ReportView) -> None:
        if result is not self.view:
            self.view = result
            self.draw()

    def failed(self, message: str) -> None:
        self.view = None
        self.query_one("#text", Text).set_lines(trouble_lines(message, self.size.width))

    def draw(self) -> None:
        if self.view is not None:
            self.query_one("#text", Text).set_lines(report_lines(self.view, max(1, self.size.width - 1)))

    def on_resize(self) -> None:
        self.draw()

    def action_refresh(self) -> None:
        self._of = None
        self.look()

    def copied(self) -> str:
        return as_text(self.query_one("#text", Text).lines)
