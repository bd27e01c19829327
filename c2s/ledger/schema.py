"""Tables of the ledger, its version and its migrations. docs/architecture.md says what each table means."""

from __future__ import annotations

APPLICATION_ID = 0x63327331  # "c2s1": PRAGMA application_id tells a ledger from any other SQLite file
VERSION = 2

SLOT_STATES = ("planned", "reserved", "sent", "ok", "error", "unknown", "blocked", "not_needed")
TERMINAL = ("ok", "error", "unknown", "blocked", "not_needed")

TABLES = """
CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE items (id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, payload BLOB NOT NULL);

CREATE TABLE parents (
  id INTEGER PRIMARY KEY,          -- the order in which parents are opened, over all panels
  panel TEXT NOT NULL, parent TEXT NOT NULL,
  domain TEXT NOT NULL, length INTEGER NOT NULL, pair TEXT,
  item INTEGER NOT NULL REFERENCES items,
  transition TEXT,                 -- by the panel's pair of arms; NULL while one of the two is open
  closed INTEGER NOT NULL DEFAULT 0,
  UNIQUE (panel, parent)
);

-- What a panel that comes after others adds to a parent's payload, frozen before its first request (Panel.prepare).
CREATE TABLE prepared (parent INTEGER PRIMARY KEY REFERENCES parents, addition BLOB NOT NULL);

-- The arms of every panel in the order of their declaration, with what tells them apart: {"interface": "serial", "support": "union"}.
CREATE TABLE arms (
  panel TEXT NOT NULL, arm TEXT NOT NULL, ordinal INTEGER NOT NULL,
  factors TEXT NOT NULL,           -- a JSON object; {} in a ledger that schema 1 was made into: the panel's declaration has them
  PRIMARY KEY (panel, arm)
) WITHOUT ROWID;

CREATE TABLE slots (
  id INTEGER PRIMARY KEY,
  parent INTEGER NOT NULL REFERENCES parents,
  arm TEXT NOT NULL, replicate INTEGER NOT NULL, step INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'planned',
  exchange INTEGER REFERENCES exchanges,  -- the deciding one
  share_of INTEGER REFERENCES slots,
  turn INTEGER NOT NULL DEFAULT 0,        -- of a dialogue, from 1; 0 where the arm has no turns
  shard INTEGER                           -- which part of a divided run asks it; NULL: runs are not divided yet
);
CREATE INDEX slots_parent ON slots (parent);

CREATE TABLE exchanges (
  id INTEGER PRIMARY KEY,
  slot INTEGER NOT NULL REFERENCES slots, attempt INTEGER NOT NULL,
  state TEXT NOT NULL,             -- sent, ok, malformed, not_processed, error, unknown
  body_sha256 TEXT NOT NULL, content_sha256 TEXT NOT NULL, request BLOB NOT NULL,
  sent_at REAL NOT NULL, done_at REAL,
  http_status INTEGER, headers TEXT, response BLOB,
  model TEXT,                      -- the served model, as the response names it
  input_tokens INTEGER, output_tokens INTEGER,
  reserved_usd REAL, cost_usd REAL,
  message TEXT,
  origin TEXT,                     -- where a reused answer was first given: run id and exchange
  response_id TEXT, system_fingerprint TEXT,  -- as the response names them; NULL where it does not, or where schema 1 recorded it
  endpoint TEXT, shard INTEGER     -- which server answered, in which part of a divided run; NULL: one server, undivided, as yet
);
CREATE INDEX exchanges_slot ON exchanges (slot);
-- what is under way and what was sent again, without touching the bodies
CREATE INDEX exchanges_sent ON exchanges (sent_at) WHERE state = 'sent';
CREATE INDEX exchanges_retry ON exchanges (slot) WHERE attempt > 1;

CREATE TABLE outcomes (
  parent INTEGER NOT NULL REFERENCES parents,
  arm TEXT NOT NULL, replicate INTEGER NOT NULL, turn INTEGER NOT NULL,
  status TEXT NOT NULL, output TEXT, correct INTEGER, fidelity INTEGER, kind TEXT,
  first_wrong INTEGER, min_confidence REAL, reason TEXT, detail TEXT NOT NULL,
  PRIMARY KEY (parent, arm, replicate, turn)
) WITHOUT ROWID;

CREATE TABLE counters (
  panel TEXT NOT NULL, domain TEXT NOT NULL, length INTEGER NOT NULL, arm TEXT NOT NULL,
  key TEXT NOT NULL,               -- a slot state; outcome:correct|wrong|unscored|undefined; transition:NAME (arm '')
  n INTEGER NOT NULL,
  PRIMARY KEY (panel, domain, length, arm, key)
) WITHOUT ROWID;

-- What was noticed about the answers of an arm, how often, and the first exchange that shows it. Nothing writes it yet.
CREATE TABLE observations (
  panel TEXT NOT NULL, arm TEXT NOT NULL, kind TEXT NOT NULL, n INTEGER NOT NULL,
  first_exchange INTEGER REFERENCES exchanges,
  PRIMARY KEY (panel, arm, kind)
) WITHOUT ROWID;

CREATE TABLE events (id INTEGER PRIMARY KEY, at REAL NOT NULL, level TEXT NOT NULL, message TEXT NOT NULL);
"""
