"""CASES.md 25: whatever a model, an item or a file name says is shown as it is, and does nothing."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import orjson
import pytest
from c2s_tui import main as tui
from c2s_tui.data.item import Send
from c2s_tui.text import Line, bar, cell, clip, visible, wrap
from c2s_tui.views.raw import raw_lines
from rich.cells import cell_len
from support.pilots import drive
from support.screens import screen_text

from c2s.ledger.rows import ExchangeRow

MARKUP = "[/red][bold]x[/bold]"
CLICK = "[@click=app.quit]x[/]"
ESCAPES = "\x1b[31mred\x1b]0;title\x07\x9b2J"
RTL = "abc\u202edef\u2066ghi"
ZERO = "a\u200bb\ufeff\u2028c\ud800"
LONG = "M" * 1_000_000
WIDE = "\u754c" * 40 + "e\u0301" * 20
ALL = {"markup": MARKUP, "click": CLICK, "escapes": ESCAPES, "rtl": RTL, "zero": ZERO, "long": LONG, "wide": WIDE}
FORBIDDEN = ("\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\u200b", "\ufeff", "\u2028", "\ud800")
SCREENS = ("runs", "monitor", "items", "item", "compare")


def poison(run: Path, text: str) -> None:
    """The text in every place that comes from outside, for the first three items."""
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["identity"]["model"] = text[:5000]
    (run / "manifest.json").write_text(json.dumps(manifest))
    clean = text.encode("utf-8", "replace").decode()
    db = sqlite3.connect(run / "ledger.sqlite")
    for number, payload in db.execute("SELECT id, payload FROM items WHERE id <= 3").fetchall():
        item = orjson.loads(payload)
        item |= {"problem": clean, "target": clean[:4000], "candidates": [clean[:4000], *item["candidates"]]}
        db.execute("UPDATE items SET payload = ? WHERE id = ?", (orjson.dumps(item), number))
    db.execute("UPDATE outcomes SET output = ?, reason = ?, kind = ? WHERE parent <= 3", (clean, clean, clean[:100]))
    db.execute("UPDATE outcomes SET correct = 0, first_wrong = 2 WHERE arm = 'serial'")
    db.execute(
        "UPDATE exchanges SET response = ?, message = ?, model = ?, headers = ? WHERE slot IN (SELECT id FROM slots WHERE parent <= 3)",
        (text.encode("utf-8", "surrogatepass"), clean, clean[:5000], clean),
    )
    db.execute("INSERT INTO events (at, level, message) VALUES (1.0, ?, ?)", (clean[:200], clean))
    db.execute("INSERT OR REPLACE INTO run VALUES ('stopped', ?)", (clean,))
    db.execute("UPDATE slots SET state = 'planned' WHERE id = 1")
    db.commit()
    db.close()


@pytest.mark.parametrize("kind", ALL)
def test_on_every_screen(kind: str, root: Path, app_of, capsys):
    name = f"z{ALL[kind][:80].encode('utf-8', 'replace').decode()}".replace("/", "|")
    run = root / name
    shutil.copytree(root / "good", run)
    poison(run, ALL[kind])
    for screen in SCREENS if kind != "escapes" else (*SCREENS, "report"):
        tui([str(root if screen == "runs" else run), "--screen", screen, "--once"])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err and not any(c in out + err for c in FORBIDDEN)
    app = app_of(name)

    async def look(pilot) -> None:
        for screen in SCREENS:
            app.go(screen)
            await pilot.settled()
            shown = screen_text(app)
            assert not any(c in shown for c in FORBIDDEN)
            assert all(cell_len(line) <= 80 for line in shown.splitlines())
            for y, x in ((6, 2), (8, 30), (12, 60)):
                await pilot.click(offset=(x, y))
            assert app.is_running
            if screen != app.screen.NAME:  # a click may open the item under it
                app.go(screen)
        app.session.item = 1
        app.go("items")
        app.go("item")
        await pilot.settled()
        if kind in ("markup", "click"):
            assert ALL[kind] in screen_text(app)
        await pilot.press("a", "enter")
        await pilot.settled()
        assert not any(c in screen_text(app) for c in FORBIDDEN)
        await pilot.press("x")
        await pilot.settled()
        assert not any(c in screen_text(app) for c in FORBIDDEN)
        app.say(ALL[kind][:200])
        await pilot.pause()
        assert not any(c in screen_text(app) for c in FORBIDDEN)

    drive(app, look)


@pytest.mark.parametrize("text", [*ALL.values(), "", " ", "a\tb\nc\rd"])
def test_cells_have_the_width_that_was_asked_for(text: str):
    for columns in (0, 1, 2, 7, 80):
        for right in (False, True):
            assert cell_len(cell(text, columns, right=right).text) == columns
        assert cell_len(clip(visible(text[:3000]), columns)) <= columns
        assert Line(text[:3000], "tail").fit(columns).width == columns
    pieces = wrap(text[:3000], 20)
    assert all(cell_len(piece) <= 20 for piece in pieces)
    assert len(wrap(text, 20, 3)) <= 3
    assert "".join(pieces).replace(" ", "") == visible(text[:3000]).replace(" ", "")


def test_raw_text_loses_and_adds_no_byte():
    """Every byte can be told from the lines: escapes are marked, everything else stands for itself."""
    body = bytes(range(256)) + "é界\u202e\u0085\\x1b".encode()
    row = ExchangeRow(1, 1, 1, "0", "0", body, 0.0, state="ok", response=None)
    for width in (1, 7, 80):
        lines = list(raw_lines([Send("slot", row)], "text", width))
        titles = [i for i, line in enumerate(lines) if line.spans and line.spans[0].role == "title"]
        assert all(line.width <= width or width == 1 for line in lines)
        found = b""
        for span in (span for line in lines[titles[1] + 1 : titles[2] - 1] for span in line.spans):
            if span.role != "mark":
                found += span.text.encode()
            elif span.text.startswith("\\u"):
                found += chr(int(span.text[2:], 16)).encode()
            else:  # one byte, that of a control character or one that is no UTF-8
                found += span.text.encode().decode("unicode_escape").encode("latin-1")
        assert found == body
    hexed = raw_lines([Send("slot", row)], "hex", 80)
    dumped = "".join(line.spans[1].text for line in hexed if len(line.spans) == 3 and len(line.spans[0].text) == 10)
    assert bytes.fromhex(dumped) == body


def test_bars():
    assert [bar(x, 4) for x in (0, 1e-9, 0.5, 1 - 1e-9, 1, 2, -1)] == ["    ", "▏   ", "██  ", "███▉", "████", "████", "    "]
