//! The tables, and how an older notebook becomes a newer one.

use rusqlite::{Connection, Transaction};

/// Marks the file as a notebook ("KSNB"), so that another program's database is never written to.
pub(crate) const APPLICATION_ID: i64 = 0x4B53_4E42;

/// The format this program writes (`PRAGMA user_version`).
pub const VERSION: i64 = MIGRATIONS.len() as i64;

/// One entry a format, applied in order inside one transaction. Never edit an entry that was released: add one.
///
/// A migration that must touch rows of an append-only table drops that table's triggers first;
/// [`migrate`] sets them again for every table at the end.
const MIGRATIONS: &[&str] = &[FIRST, FORECASTS, MODEL_CALLS];

const FIRST: &str = "
-- Every version of a source once, by the BLAKE3 hash of its bytes.
CREATE TABLE texts (hash TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;

-- The fingerprints of the kernels in a text: what binds a time to code in an editor.
CREATE TABLE text_kernels (
    text TEXT NOT NULL REFERENCES texts (hash),
    kernel TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (text, kernel, fingerprint)
) STRICT;
CREATE INDEX text_kernels_by_fingerprint ON text_kernels (fingerprint);

CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    file TEXT NOT NULL,
    kernel TEXT,
    device TEXT NOT NULL,
    provider TEXT NOT NULL,
    seed INTEGER NOT NULL,
    budget TEXT NOT NULL,
    settings TEXT NOT NULL,
    original TEXT NOT NULL REFERENCES texts (hash),
    program TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_file ON runs (file);

CREATE TABLE run_changes (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (id),
    change TEXT NOT NULL CHECK (change IN ('started', 'resumed', 'paused', 'cancelled', 'failed', 'finished')),
    message TEXT NOT NULL,
    detail TEXT NOT NULL,
    spent_ms INTEGER NOT NULL,
    usd REAL NOT NULL,
    tokens INTEGER NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX run_changes_by_run ON run_changes (run);

-- What a stage answered, so that a resumed run never asks again.
CREATE TABLE run_steps (
    run INTEGER NOT NULL REFERENCES runs (id),
    step TEXT NOT NULL,
    detail TEXT NOT NULL,
    spent_ms INTEGER NOT NULL,
    usd REAL NOT NULL,
    tokens INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (run, step)
) STRICT;

-- Times in nanoseconds; samples are little-endian 64-bit floats in the order they were taken.
CREATE TABLE measurements (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    text TEXT NOT NULL REFERENCES texts (hash),
    kernel TEXT,
    fingerprint TEXT,
    shape TEXT NOT NULL,
    device TEXT NOT NULL,
    device_note TEXT NOT NULL,
    toolchain TEXT NOT NULL,
    seed INTEGER NOT NULL,
    median_ns REAL NOT NULL,
    low_ns REAL NOT NULL,
    high_ns REAL NOT NULL,
    samples BLOB NOT NULL,
    took_ms INTEGER NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX measurements_by_text ON measurements (text);
CREATE INDEX measurements_by_file ON measurements (file);
CREATE INDEX measurements_by_fingerprint ON measurements (fingerprint);

CREATE TABLE comparisons (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    baseline TEXT NOT NULL REFERENCES texts (hash),
    candidate TEXT NOT NULL REFERENCES texts (hash),
    device TEXT NOT NULL,
    device_note TEXT NOT NULL,
    toolchain TEXT NOT NULL,
    seed INTEGER NOT NULL,
    ratio REAL NOT NULL,
    low REAL NOT NULL,
    high REAL NOT NULL,
    verdict TEXT NOT NULL,
    took_ms INTEGER NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE shape_ratios (
    comparison INTEGER NOT NULL REFERENCES comparisons (id),
    position INTEGER NOT NULL,
    shape TEXT NOT NULL,
    held_out INTEGER NOT NULL CHECK (held_out IN (0, 1)),
    baseline INTEGER NOT NULL REFERENCES measurements (id),
    candidate INTEGER NOT NULL REFERENCES measurements (id),
    ratio REAL NOT NULL,
    low REAL NOT NULL,
    high REAL NOT NULL,
    verdict TEXT NOT NULL,
    PRIMARY KEY (comparison, position)
) STRICT;
CREATE INDEX shape_ratios_by_baseline ON shape_ratios (baseline);
CREATE INDEX shape_ratios_by_candidate ON shape_ratios (candidate);

CREATE TABLE experiments (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (id),
    step TEXT NOT NULL,
    generation INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('search', 'full', 'direct', 'confirmation')),
    base INTEGER NOT NULL,
    reference INTEGER NOT NULL,
    hypothesis_key TEXT NOT NULL,
    hypothesis TEXT NOT NULL,
    text TEXT REFERENCES texts (hash),
    report TEXT NOT NULL,
    comparison INTEGER REFERENCES comparisons (id),
    failure TEXT,
    duplicate_of TEXT,
    not_written TEXT,
    took_ms INTEGER NOT NULL,
    spent_ms INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    UNIQUE (run, step),
    -- Exactly one outcome.
    CHECK ((comparison IS NOT NULL) + (failure IS NOT NULL) + (duplicate_of IS NOT NULL) + (not_written IS NOT NULL) = 1)
) STRICT;
CREATE INDEX experiments_by_key ON experiments (hypothesis_key);
CREATE INDEX experiments_by_comparison ON experiments (comparison);

CREATE TABLE candidates (
    run INTEGER NOT NULL REFERENCES runs (id),
    number INTEGER NOT NULL,
    parent INTEGER,
    reference INTEGER,
    generation INTEGER NOT NULL,
    text TEXT NOT NULL REFERENCES texts (hash),
    steps TEXT NOT NULL,
    summary TEXT NOT NULL,
    experiment INTEGER REFERENCES experiments (id),
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (run, number)
) STRICT;

-- Gains in percent of speed: 20 means 1.2x.
CREATE TABLE findings (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (id),
    experiment INTEGER NOT NULL UNIQUE REFERENCES experiments (id),
    about TEXT NOT NULL,
    min_percent REAL NOT NULL,
    max_percent REAL NOT NULL,
    measured_percent REAL,
    text TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX findings_by_about ON findings (about);
";

/// Forecasts have tables of their own: nothing that was modelled is ever read as a measurement.
const FORECASTS: &str = "
-- Times in nanoseconds; low and high are what nine of ten validated forecasts lay within.
CREATE TABLE forecasts (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    text TEXT NOT NULL REFERENCES texts (hash),
    kernel TEXT,
    fingerprint TEXT,
    shape TEXT NOT NULL,
    device TEXT NOT NULL,
    device_note TEXT NOT NULL,
    model TEXT NOT NULL,
    device_table TEXT NOT NULL,
    ns REAL NOT NULL,
    low_ns REAL NOT NULL,
    high_ns REAL NOT NULL,
    took_ms INTEGER NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX forecasts_by_text ON forecasts (text);
CREATE INDEX forecasts_by_file ON forecasts (file);
CREATE INDEX forecasts_by_fingerprint ON forecasts (fingerprint);

CREATE TABLE forecast_ratios (
    comparison INTEGER NOT NULL REFERENCES comparisons (id),
    position INTEGER NOT NULL,
    shape TEXT NOT NULL,
    held_out INTEGER NOT NULL CHECK (held_out IN (0, 1)),
    baseline INTEGER NOT NULL REFERENCES forecasts (id),
    candidate INTEGER NOT NULL REFERENCES forecasts (id),
    ratio REAL NOT NULL,
    low REAL NOT NULL,
    high REAL NOT NULL,
    verdict TEXT NOT NULL,
    PRIMARY KEY (comparison, position)
) STRICT;
CREATE INDEX forecast_ratios_by_baseline ON forecast_ratios (baseline);
CREATE INDEX forecast_ratios_by_candidate ON forecast_ratios (candidate);

-- What a comparison of forecasts rests on (JSON); null for one that was measured.
ALTER TABLE comparisons ADD COLUMN forecast TEXT;

-- What was forecast, in the place of what was measured.
ALTER TABLE findings ADD COLUMN forecast_percent REAL;
";

const MODEL_CALLS: &str = "
CREATE TABLE model_calls (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (id),
    step TEXT NOT NULL,
    label TEXT NOT NULL,
    model TEXT NOT NULL,
    input INTEGER NOT NULL,
    cached INTEGER NOT NULL,
    output INTEGER NOT NULL,
    estimated INTEGER NOT NULL CHECK (estimated IN (0, 1)),
    usd REAL,
    took_ms INTEGER NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX model_calls_by_run ON model_calls (run);
";

/// Brings the notebook to [`VERSION`] inside the caller's transaction.
pub(crate) fn migrate(transaction: &Transaction<'_>, from: i64) -> rusqlite::Result<()> {
    apply(transaction, from, MIGRATIONS)
}

fn apply(transaction: &Transaction<'_>, from: i64, migrations: &[&str]) -> rusqlite::Result<()> {
    for (_, sql) in (1..).zip(migrations).filter(|(version, _)| *version > from) {
        transaction.execute_batch(sql)?;
    }
    forbid_changes(transaction)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", migrations.len() as i64)
}

/// Gives every table the triggers that make it append-only.
fn forbid_changes(connection: &Connection) -> rusqlite::Result<()> {
    let tables: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for table in tables {
        for change in ["UPDATE", "DELETE"] {
            connection.execute_batch(&format!(
                "CREATE TRIGGER IF NOT EXISTS {table}_no_{change} BEFORE {change} ON {table}
                 BEGIN SELECT RAISE (ABORT, 'the notebook is append-only: {change} on {table} refused'); END;"
            ))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: &str = FORECASTS;

    fn version(connection: &Connection) -> i64 {
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    }

    fn first_format() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        let transaction = connection.transaction().unwrap();
        apply(&transaction, 0, &[FIRST]).unwrap();
        transaction.execute("INSERT INTO texts VALUES ('h', 'kept')", []).unwrap();
        transaction.commit().unwrap();
        connection
    }

    #[test]
    fn an_older_notebook_gets_only_what_it_lacks_and_keeps_its_rows() {
        let mut connection = first_format();
        let transaction = connection.transaction().unwrap();
        apply(&transaction, 1, &[FIRST, SECOND]).unwrap();
        transaction.commit().unwrap();
        assert_eq!(version(&connection), 2);
        let kept: String = connection.query_row("SELECT text FROM texts", [], |row| row.get(0)).unwrap();
        assert_eq!(kept, "kept");
        connection
            .execute(
                "INSERT INTO forecasts VALUES (1, 'f', 'h', NULL, NULL, 'n', 'd', '', '1', 't', 1.0, 1.0, 1.0, 1, 1)",
                [],
            )
            .unwrap();
        let refused = connection.execute("DELETE FROM forecasts", []).unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }

    #[test]
    fn a_migration_that_fails_leaves_the_older_format() {
        let mut connection = first_format();
        let transaction = connection.transaction().unwrap();
        assert!(apply(&transaction, 1, &[FIRST, SECOND, "CREATE TABLE texts (again TEXT)"]).is_err());
        drop(transaction);
        assert_eq!(version(&connection), 1);
        assert!(connection.prepare("SELECT * FROM forecasts").is_err(), "the half done migration is still there");
    }
}
