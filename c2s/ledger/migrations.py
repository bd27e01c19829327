"""Ledgers of earlier schemas: the writer makes them into the present one, readers, which never write, see them as the present one.

Both use the same expressions, so a run says the same before it is resumed and after.
"""

from __future__ import annotations

import sqlite3

from c2s.ledger.schema import VERSION

FIRST = 1
"""The oldest schema that can be read."""

# --- schema 1: a turn was a replicate (t - 1 for turn t), two transitions had the names of arms, arms had no table ---------------------

_DIALOGUES = "('dialogue-construction', 'dialogue-access')"
_TURN_ARMS = (
    "(VALUES ('dialogue-construction', 'joint'), ('dialogue-construction', 'independent'), ('dialogue-construction', 'serial'),"
    " ('dialogue-access', 'history_recompute'), ('dialogue-access', 'oracle'), ('dialogue-access', 'oracle_paraphrase'),"
    " ('dialogue-access', 'oracle_permuted'))"
)
_TRANSITION = "CASE transition WHEN 'native_only' THEN 'lost' WHEN 'serial_only' THEN 'gained' ELSE transition END"
_KEY = "CASE key WHEN 'transition:native_only' THEN 'transition:lost' WHEN 'transition:serial_only' THEN 'transition:gained' ELSE key END"


def _has_turns(ledger: str, row: str) -> str:
    """Whether `row` of slots or outcomes belongs to an arm that has one instance a turn."""
    return f"((SELECT p.panel FROM {ledger}.parents p WHERE p.id = {row}.parent), {row}.arm) IN {_TURN_ARMS}"


def _arms(ledger: str) -> str:
    return (
        "SELECT panel, arm, row_number() OVER (ORDER BY first) - 1 AS ordinal, '{}' AS factors FROM (SELECT p.panel AS panel, s.arm AS arm,"
        f" min(s.id) AS first FROM {ledger}.slots s JOIN {ledger}.parents p ON p.id = s.parent GROUP BY 1, 2)"
    )


_SCORES = "status, output, correct, fidelity, kind, first_wrong, min_confidence, reason, detail"

_TO_2 = f"""
UPDATE parents SET transition = {_TRANSITION} WHERE transition IN ('native_only', 'serial_only');
UPDATE counters SET key = {_KEY} WHERE key IN ('transition:native_only', 'transition:serial_only');

ALTER TABLE slots ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
ALTER TABLE slots ADD COLUMN shard INTEGER;
UPDATE slots AS s SET turn = replicate + 1, replicate = 0 WHERE {_has_turns("main", "s")};

CREATE TABLE outcomes_2 (
  parent INTEGER NOT NULL REFERENCES parents,
  arm TEXT NOT NULL, replicate INTEGER NOT NULL, turn INTEGER NOT NULL,
  status TEXT NOT NULL, output TEXT, correct INTEGER, fidelity INTEGER, kind TEXT,
  first_wrong INTEGER, min_confidence REAL, reason TEXT, detail TEXT NOT NULL,
  PRIMARY KEY (parent, arm, replicate, turn)
) WITHOUT ROWID;
INSERT INTO outcomes_2 SELECT parent, arm, replicate, 0, {_SCORES} FROM outcomes;
DROP TABLE outcomes;
ALTER TABLE outcomes_2 RENAME TO outcomes;
UPDATE outcomes AS o SET turn = replicate + 1, replicate = 0 WHERE {_has_turns("main", "o")};

ALTER TABLE exchanges ADD COLUMN response_id TEXT;
ALTER TABLE exchanges ADD COLUMN system_fingerprint TEXT;
ALTER TABLE exchanges ADD COLUMN endpoint TEXT;
ALTER TABLE exchanges ADD COLUMN shard INTEGER;

CREATE TABLE arms (
  panel TEXT NOT NULL, arm TEXT NOT NULL, ordinal INTEGER NOT NULL, factors TEXT NOT NULL, PRIMARY KEY (panel, arm)
) WITHOUT ROWID;
INSERT INTO arms {_arms("main")};

CREATE TABLE observations (
  panel TEXT NOT NULL, arm TEXT NOT NULL, kind TEXT NOT NULL, n INTEGER NOT NULL,
  first_exchange INTEGER REFERENCES exchanges,
  PRIMARY KEY (panel, arm, kind)
) WITHOUT ROWID;
"""


def _from_1(ledger: str, *, turns: bool) -> dict[str, str]:
    """The tables of the present schema as queries over a ledger of schema 1."""

    def numbered(row: str) -> str:
        if not turns:
            return f"{row}.replicate AS replicate, 0 AS turn"
        has = _has_turns(ledger, row)
        return f"iif({has}, 0, {row}.replicate) AS replicate, iif({has}, {row}.replicate + 1, 0) AS turn"

    return {
        "parents": f"SELECT id, panel, parent, domain, length, pair, item, {_TRANSITION} AS transition, closed FROM {ledger}.parents",
        "slots": f"SELECT id, parent, arm, {numbered('s')}, step, state, exchange, share_of, NULL AS shard FROM {ledger}.slots s",
        "outcomes": f"SELECT parent, arm, {numbered('o')}, {_SCORES} FROM {ledger}.outcomes o",
        "counters": f"SELECT panel, domain, length, arm, {_KEY} AS key, n FROM {ledger}.counters",
        "exchanges": f"SELECT *, NULL AS response_id, NULL AS system_fingerprint, NULL AS endpoint, NULL AS shard FROM {ledger}.exchanges",
        "arms": _arms(ledger),
        "observations": "SELECT NULL AS panel, NULL AS arm, NULL AS kind, NULL AS n, NULL AS first_exchange WHERE 0",
    }


MIGRATIONS = {1: _TO_2}
"""Schema n -> the statements that make n + 1 of it."""


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring a ledger to the present schema, one whole transaction for each step."""
    for n in range(version, VERSION):
        connection.executescript(f"BEGIN IMMEDIATE; {MIGRATIONS[n]} PRAGMA user_version={n + 1}; COMMIT;")


def show(connection: sqlite3.Connection, version: int, ledger: str = "main") -> None:
    """Put temporary views of the present schema's tables before those of an older ledger: an unqualified name means the view.

    An attached ledger (`ledger` is its name) gets views of every table under the names LEDGER_TABLE, whatever its schema.
    """
    found: dict[str, str] = {}
    if ledger != "main":
        names = connection.execute(f"SELECT name FROM {ledger}.sqlite_master WHERE type = 'table'").fetchall()
        found = {name: f"SELECT * FROM {ledger}.{name}" for (name,) in names if name.isidentifier()}
    if version == 1:
        (turns,) = connection.execute(f"SELECT EXISTS (SELECT 1 FROM {ledger}.counters WHERE panel IN {_DIALOGUES})").fetchone()
        found |= _from_1(ledger, turns=bool(turns))
    if found:
        connection.execute("PRAGMA temp_store=MEMORY")
    prefix = "" if ledger == "main" else f"{ledger}_"
    for table, query in found.items():
        connection.execute(f"CREATE TEMP VIEW {prefix}{table} AS {query}")
