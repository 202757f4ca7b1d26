//! The notebook keeps what was tried and measured: SQLite in WAL mode, append-only.
#![warn(missing_docs)]
