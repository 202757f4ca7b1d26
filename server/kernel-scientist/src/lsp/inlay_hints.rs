//! Inlay hints: the last figure behind each kernel's signature, and LDS bytes at each `__shared__` variable.

use std::ops::Range;

use super::analysis::KernelFacts;
use super::history::{KernelHistory, Row};
use super::view::View;
use crate::cli::figures;

/// A hint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hint {
    /// The place it stands at, in bytes of the present text.
    pub at: usize,
    /// What it says.
    pub label: String,
    /// What is said when the mouse rests on it, in Markdown; empty for nothing.
    pub tooltip: String,
}

/// The hints in a range of the present text.
pub fn hints(view: &View, range: &Range<usize>) -> Vec<Hint> {
    let mut hints = Vec::new();
    for kernel in &view.analysis.kernels {
        let extent = view.extent(kernel);
        if extent.end < range.start || range.end < extent.start {
            continue;
        }
        hints.extend(figure(view, kernel));
        hints.extend(kernel.shared.iter().filter_map(|array| {
            let label =
                array.bytes.map_or_else(|| "LDS: given at launch".to_owned(), |bytes| format!("LDS {}", size(bytes)));
            Some(Hint { at: view.now(array.end)?, label, tooltip: String::new() })
        }));
    }
    // A line's hints may stand outside of the range that its kernel touches.
    hints.retain(|hint| range.start <= hint.at && hint.at <= range.end);
    hints
}

fn figure(view: &View, kernel: &KernelFacts) -> Option<Hint> {
    let history = view.history_of(kernel)?;
    let at = view.now(kernel.signature_end)?;
    let current = history.current(&kernel.fingerprint);
    // While the text is being read, its kernel may be another than the one that was measured: nobody can know yet.
    let (label, tooltip) = match current.first() {
        Some(row) => (label(row, current.len(), history), table(&current, "")),
        None => {
            let last = history.last();
            let row = *last.first()?;
            let stale = "The kernel was changed since it was measured; **Time** measures it as it is now.\n\n";
            (format!("stale: {}", label(row, last.len(), history)), table(&last, stale))
        }
    };
    Some(Hint { at, label, tooltip })
}

/// `412 us ±0.4% · 1.82x vs original · cpu emulation`.
fn label(row: &Row, shapes: usize, history: &KernelHistory) -> String {
    let mut parts = vec![figures::spread(row.median_ns, row.low_ns, row.high_ns)];
    if shapes > 1 {
        parts[0].push_str(&format!(" ({shapes} shapes)"));
    }
    if let Some(entry) = &row.entry {
        parts.push(format!("{entry}()"));
    }
    // The comparison that says most of this very version: the newest one against the original, else against its parent.
    let of_this = || history.rows.iter().rev().filter(|other| other.fingerprint == row.fingerprint);
    let speeds = || of_this().filter_map(|row| row.speed.as_ref());
    if let Some(speed) = speeds().find(|speed| speed.is_against_original).or_else(|| speeds().next()) {
        let other = if speed.is_against_original { "original" } else { "before" };
        parts.push(format!("{:.2}x vs {other}", speed.ratio.ratio));
    }
    parts.push(device(row).to_owned());
    parts.join(" · ")
}

/// The device as it is shown beside a figure: nobody may take an emulation's time for a GPU's.
pub fn device(row: &Row) -> &str {
    if row.device == "cpu" { "cpu emulation" } else { &row.device }
}

fn table(rows: &[&Row], before: &str) -> String {
    let mut out = format!("{before}| shape | median | 95% interval | samples |\n|---|---|---|---|\n");
    for row in rows {
        out.push_str(&format!(
            "| {} | {} | {} .. {} | {} |\n",
            row.shape,
            figures::time(row.median_ns),
            figures::time(row.low_ns),
            figures::time(row.high_ns),
            row.samples
        ));
    }
    if let Some(row) = rows.first().filter(|row| !row.device_note.is_empty()) {
        out.push_str(&format!("\n{}: {}\n", row.device, row.device_note));
    }
    out
}

/// `64 B`, `16.5 KiB`.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        _ if bytes.is_multiple_of(1024) => format!("{} KiB", bytes / 1024),
        _ => format!("{:.1} KiB", bytes as f64 / 1024.0),
    }
}
