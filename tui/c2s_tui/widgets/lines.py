"""A scrolling view that draws lines on demand: nothing is laid out for what is not on the screen.

The base of every list and text of the app. It knows lines, a cursor that moves between some of them, and clicks; where the lines
come from is for subclasses.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from c2s_tui.text import ROLES, Hit, Line

EMPTY = Line()


class LineView(ScrollView, can_focus=True):
    """`stops` are the lines that the cursor can stand on: None for a text that is only scrolled."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"line--{role}" for role in (*ROLES, "cursor")}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "down", show=False),
        Binding("k,up", "move(-1)", "up", show=False),
        Binding("g,home", "end(False)", "first", show=False),
        Binding("G,end", "end(True)", "last", show=False),
        Binding("pagedown,ctrl+d,ctrl+f", "page(1)", "page down", show=False),
        Binding("pageup,ctrl+u,ctrl+b", "page(-1)", "page up", show=False),
        Binding("h,left", "sideways(-1)", "left", show=False),
        Binding("l,right", "sideways(1)", "right", show=False),
        Binding("enter", "choose", "open", show=False),
    ]

    cursor: reactive[int] = reactive(0, init=False)

    class Moved(Message):
        """The cursor stands on another stop."""

        def __init__(self, view: LineView, index: int) -> None:
            super().__init__()
            self.view, self.index = view, index

        @property
        def control(self) -> LineView:
            return self.view

    class Chosen(Moved):
        """Enter, or a click on the stop under the cursor."""

    class Hit(Message):
        """A click on a part that stands for something."""

        def __init__(self, view: LineView, what: Hit) -> None:
            super().__init__()
            self.view, self.what = view, what

        @property
        def control(self) -> LineView:
            return self.view

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._styles: dict[str, Style] = {}

    # --- what subclasses say --------------------------------------------------------------------------------------

    @property
    def total(self) -> int:
        """How many lines there are."""
        raise NotImplementedError

    def line(self, y: int) -> Line:
        raise NotImplementedError

    @property
    def stops(self) -> Sequence[int] | None:
        return None

    def stop_height(self, index: int) -> int:
        """How many lines belong to a stop."""
        return 1

    # --- drawing --------------------------------------------------------------------------------------------------

    def resized(self, widest: int = 0) -> None:
        """To be called when the number of lines or their width changed."""
        size = Size(max(widest, 1), self.total)
        if size != self.virtual_size:
            self.virtual_size = size
        self.refresh()

    def notify_style_update(self) -> None:
        self._styles.clear()
        super().notify_style_update()

    def _style(self, role: str) -> Style:
        if role not in self._styles:
            self._styles[role] = self.get_component_rich_style(f"line--{role}") if role else self.rich_style
        return self._styles[role]

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        offset = self.scroll_offset
        number = y + offset.y
        if width <= 0 or not 0 <= number < self.total:
            return Strip.blank(max(0, width), self._style(""))
        here = self._at_cursor(number)
        strip = self._strip(self.line(number), here)
        return strip.crop_extend(offset.x, offset.x + width, self._style("cursor" if here else ""))

    def _strip(self, line: Line, here: bool) -> Strip:
        segments = []
        for text, role, hit in line.spans:
            style = self._style(role)
            if here:
                style += self._style("cursor")
            if hit is not None:
                style += Style(meta={"hit": hit})
            segments.append(Segment(text, style))
        return Strip(segments)

    def _at_cursor(self, number: int) -> bool:
        stops = self.stops
        return stops is not None and self.cursor < len(stops) and stops[self.cursor] == number

    # --- moving ---------------------------------------------------------------------------------------------------

    def validate_cursor(self, index: int) -> int:
        stops = self.stops
        return max(0, min(index, len(stops) - 1)) if stops else 0

    def watch_cursor(self, old: int, new: int) -> None:
        self.show_cursor()
        self.refresh()
        if old != new:
            self.post_message(self.Moved(self, new))

    def show_cursor(self) -> None:
        """Scroll so far that all lines of the stop under the cursor can be seen."""
        stops = self.stops
        if not stops or self.cursor >= len(stops) or not self.size.height:
            return
        top = 0 if self.cursor == 0 else stops[self.cursor]
        height = stops[self.cursor] + self.stop_height(self.cursor) - top
        self.scroll_to_region(Region(int(self.scroll_x), top, 1, min(height, self.size.height)), animate=False, force=True)

    def action_move(self, by: int) -> None:
        stops = self.stops
        if not stops or not 0 <= self.cursor + by < len(stops):
            self.scroll_relative(y=by, animate=False)  # beyond the last stop there may be more to read
        else:
            self.cursor += by

    def action_page(self, by: int) -> None:
        page = max(1, self.size.height - 1)
        stops = self.stops
        if not stops:
            self.scroll_relative(y=by * page, animate=False)
            return
        line = stops[min(self.cursor, len(stops) - 1)] + by * page
        index = bisect_right(stops, line) - 1
        self.cursor = index if index != self.cursor else self.cursor + by

    def action_end(self, last: bool) -> None:
        if self.stops is None:
            self.scroll_to(y=self.max_scroll_y if last else 0, animate=False)
        else:
            self.cursor = len(self.stops) - 1 if last else 0

    def action_sideways(self, by: int) -> None:
        if not self.max_scroll_x:
            raise SkipAction
        self.scroll_relative(x=8 * by, animate=False)

    def action_choose(self) -> None:
        if not self.stops:
            raise SkipAction  # the screen may have a meaning for it
        self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        hit = event.style.meta.get("hit") if event.style else None
        if hit is not None:
            event.stop()
            self.post_message(self.Hit(self, hit))
            return
        stops = self.stops
        if not stops:
            return
        offset = event.get_content_offset(self)
        if offset is None:
            return
        index = bisect_right(stops, offset.y + self.scroll_offset.y) - 1
        if index < 0 or offset.y + self.scroll_offset.y >= stops[index] + self.stop_height(index):
            return
        event.stop()
        if index == self.cursor and event.chain >= 2:
            self.post_message(self.Chosen(self, index))
        else:
            self.cursor = index


class Text(LineView):
    """Lines that are given as a whole, with stops if there are any."""

    def __init__(self, lines: Sequence[Line] = (), *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Line] = lines
        self._stops: Sequence[int] | None = None
        self._heights: Sequence[int] | None = None

    @property
    def total(self) -> int:
        return len(self._lines)

    def line(self, y: int) -> Line:
        return self._lines[y]

    @property
    def lines(self) -> Sequence[Line]:
        return self._lines

    @property
    def stops(self) -> Sequence[int] | None:
        return self._stops

    def stop_height(self, index: int) -> int:
        return self._heights[index] if self._heights else 1

    def on_mount(self) -> None:
        if self._lines:
            self.resized(max(line.width for line in self._lines))

    def set_lines(
        self, lines: Sequence[Line], stops: Sequence[int] | None = None, heights: Sequence[int] | None = None, widest: int | None = None
    ) -> None:
        """Show other lines; the cursor keeps its number as far as there are so many stops. `widest` saves measuring them all."""
        before, (self._lines, self._stops, self._heights) = self._lines, (lines, stops, heights)
        if stops is not None and self.cursor >= len(stops):
            self.cursor = max(0, len(stops) - 1)
        widest = max((line.width for line in lines), default=0) if widest is None else widest
        if len(before) != len(lines) or Size(max(widest, 1), len(lines)) != self.virtual_size:
            self.resized(widest)
            return
        top, width = self.scroll_offset.y, self.size.width
        seen = range(top, min(len(lines), top + self.size.height))
        changed = [Region(0, y - top, width, 1) for y in seen if lines[y].spans != before[y].spans]
        if changed:
            self.refresh(*changed)


class Fixed(Text, can_focus=False):
    """A few lines that neither scroll nor take the focus."""

    DEFAULT_CSS = "Fixed { height: auto; overflow: hidden hidden; }"

    def set_lines(
        self, lines: Sequence[Line], stops: Sequence[int] | None = None, heights: Sequence[int] | None = None, widest: int | None = None
    ) -> None:
        if len(lines) != len(self._lines) or self.styles.height is None:
            self.styles.height = len(lines)
        super().set_lines(lines, stops, heights, widest)
