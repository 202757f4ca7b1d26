//! Inlay hints: the best known figure behind each kernel's signature, LDS bytes at each `__shared__` variable, and at the end
//! of lines that matter what the forecast says of them.

use std::ops::Range;

use super::analysis::KernelFacts;
use super::forecasts::Account;
use super::history::{KernelHistory, Row, Speed};
use super::known_time::{KnownTime, Source};
use super::markdown;
use super::view::View;
use crate::cli::figures;
use crate::devices;

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
    if view.settings.line_hints {
        hints.extend(lines(view, range));
    }
    // A line's hints may stand outside of the range that its kernel touches.
    hints.retain(|hint| range.start <= hint.at && hint.at <= range.end);
    hints
}

/// What is last known of a kernel's time, in words.
pub struct KnownFigure {
    /// As the kernel's hint says it.
    pub label: String,
    /// It is that of the code as it is.
    pub is_current: bool,
    /// It is a forecast, not a measurement.
    pub is_forecast: bool,
}

/// The best that is known of a kernel; `None` where nothing is.
pub fn known_figure(view: &View, kernel: &KernelFacts) -> Option<KnownFigure> {
    let known = KnownTime::of(view, kernel)?;
    let is_forecast = match &known.source {
        Source::Rows(rows) => rows.iter().any(|row| !row.is_measured()),
        Source::Account(_) => true,
    };
    let label = label(view, &known);
    let label = if known.is_current { label } else { stale(&label) };
    Some(KnownFigure { label, is_current: known.is_current, is_forecast })
}

fn label(view: &View, known: &KnownTime) -> String {
    match &known.source {
        Source::Rows(rows) => of_rows(rows, known.history),
        Source::Account(account) => of_account(view, account, known.history),
    }
}

fn stale(label: &str) -> String {
    format!("stale: {label}")
}

fn figure(view: &View, kernel: &KernelFacts) -> Option<Hint> {
    let at = view.now(kernel.signature_end)?;
    // While the text is being read, its kernel may be another than the one that was timed: nobody can know yet.
    let known = KnownTime::of(view, kernel)?;
    let label = label(view, &known);
    let tooltip = match &known.source {
        Source::Rows(rows) => markdown::times(rows),
        Source::Account(account) => markdown::forecast(view, account),
    };
    if known.is_current {
        return Some(Hint { at, label, tooltip });
    }
    let why = match &view.no_forecast {
        Some(why) => format!("The kernel was changed since. No forecast of it as it is now: {why}\n\n"),
        None => "The kernel was changed since; **Time** takes its time as it is now.\n\n".to_owned(),
    };
    Some(Hint { at, label: stale(&label), tooltip: format!("{why}{tooltip}") })
}

/// `412 us ±0.4% · 1.82x vs original · cpu emulation`, `forecast 412 us on MI300X · 1.82x vs original · slowest of 2 shapes`; the
/// first of the rows, the slowest, is shown. What matters most comes first, since editors cut long hints off at their end.
fn of_rows(rows: &[&Row], history: Option<&KernelHistory>) -> String {
    let Some(row) = rows.first() else { return String::new() };
    let device = devices::shown(&row.device);
    let mut parts = Vec::new();
    if row.is_measured() {
        parts.push(figures::spread(row.median_ns, row.low_ns, row.high_ns));
    } else {
        parts.push(format!("forecast {} on {device}", figures::time(row.median_ns)));
    }
    parts.extend(row.entry.as_ref().map(|entry| format!("{entry}()")));
    parts.extend(history.and_then(|history| {
        let is_alike = |other: &&Row| {
            other.kind_is_that_of(row) && other.fingerprint == row.fingerprint && other.shape == row.shape
        };
        best_speed(history.rows.iter().rev().filter(is_alike)).map(versus)
    }));
    if row.is_measured() {
        parts.push(device);
    }
    parts.extend(shapes(rows.len()));
    parts.join(" · ")
}

/// Of how many shapes the slowest is shown, where there are several.
fn shapes(count: usize) -> Option<String> {
    (count > 1).then(|| format!("slowest of {count} shapes"))
}

/// `forecast 412 us on MI300X · 1.82x vs original · bound by LDS`.
fn of_account(view: &View, account: &Account, history: Option<&KernelHistory>) -> String {
    let (Some(forecast), Some(launch)) = (&view.forecast, account.launches.first()) else { return String::new() };
    let basis = &forecast.forecast.basis;
    let mut parts = vec![format!("forecast {} on {}", figures::time(launch.forecast.us * 1e3), basis.title)];
    parts.extend(history.and_then(|history| {
        let is_alike = |row: &&Row| {
            !row.is_measured()
                && row.device == basis.device
                && row.fingerprint.as_ref() == Some(&account.fingerprint)
                && row.shape == launch.shape()
        };
        best_speed(history.rows.iter().rev().filter(is_alike)).map(versus)
    }));
    parts.push(format!("bound by {}", launch.forecast.bound));
    parts.extend(shapes(account.launches.len()));
    parts.join(" · ")
}

/// The comparison that says most of a version: the newest one against the original, else against its parent. The rows come
/// newest first.
fn best_speed<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<&'a Speed> {
    let speeds: Vec<&Speed> = rows.filter_map(|row| row.speed.as_ref()).collect();
    speeds.iter().find(|speed| speed.is_against_original).or(speeds.first()).copied()
}

/// `1.82x vs original`.
fn versus(speed: &Speed) -> String {
    let other = if speed.is_against_original { "original" } else { "before" };
    format!("{:.2}x vs {other}", speed.ratio.ratio)
}

/// The lines that matter in a range, each at its end.
fn lines(view: &View, range: &Range<usize>) -> Vec<Hint> {
    let Some(shown) = &view.forecast else { return Vec::new() };
    let mut hints: Vec<Hint> = Vec::new();
    for (place, account, mark) in shown.marks() {
        let at = view.line_end(place);
        // Two lines that were joined have one end.
        if at < range.start || range.end < at || hints.last().is_some_and(|last| last.at == at) {
            continue;
        }
        let is_current = view.kernel_of(account).is_some_and(|kernel| kernel.fingerprint == account.fingerprint);
        let label = if is_current { mark.remark.clone() } else { format!("stale: {}", mark.remark) };
        hints.push(Hint { at, label, tooltip: markdown::line(view, account, mark) });
    }
    hints
}

/// `64 B`, `16.5 KiB`.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        _ if bytes.is_multiple_of(1024) => format!("{} KiB", bytes / 1024),
        _ => format!("{:.1} KiB", bytes as f64 / 1024.0),
    }
}
