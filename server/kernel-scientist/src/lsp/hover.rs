//! Hover on a kernel's name, where it stands and where it is launched: its forecast and its history. On a line that matters:
//! the account of that line.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use super::analysis::KernelFacts;
use super::history::{KernelHistory, Row};
use super::markdown::{self, cell};
use super::suggestions::Tested;
use super::view::View;
use crate::cli::figures;
use crate::cli::report::moment;
use crate::devices;

/// Rows of the table and findings shown at most, the newest.
const MOST_ROWS: usize = 12;
const MOST_FINDINGS: usize = 5;

/// What is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Hover {
    /// What it is about, in the present text.
    pub range: Range<usize>,
    /// Markdown.
    pub text: String,
}

/// What is said of the kernel whose name stands at a place of the present text, else of its line if that matters.
pub fn hover(view: &View, at: usize) -> Option<Hover> {
    let Some((range, kernel)) = name_at(view, at) else { return of_line(view, at) };
    let mut text = format!("**{}**\n\n", kernel.qualified_name);
    forecast_of(&mut text, view, kernel);
    match view.history_of(kernel) {
        Some(history) if !history.rows.is_empty() => history_of(&mut text, view, kernel, history),
        _ if view.account_of(kernel).is_none() => {
            text.push_str("Not measured yet: **Time** over the kernel checks and times it.\n");
        }
        _ => {}
    }
    tests_of(&mut text, view, kernel);
    Some(Hover { range, text })
}

/// The account of a line, where a hint says that it matters.
fn of_line(view: &View, at: usize) -> Option<Hover> {
    let shown = view.forecast.as_ref().filter(|_| view.settings.line_hints)?;
    let end = view.line_end(at);
    let (place, account, mark) = shown.marks().find(|(place, ..)| view.line_end(*place) == end)?;
    // The mark stands behind the first character of its line.
    Some(Hover { range: place.min(end)..end, text: markdown::line(view, account, mark) })
}

/// What this session forecast of a kernel, or why it did not.
fn forecast_of(out: &mut String, view: &View, kernel: &KernelFacts) {
    let Some(account) = view.account_of(kernel) else {
        let missing = view.forecast.as_ref().and_then(|shown| shown.forecast.missing.get(&kernel.qualified_name));
        if let Some(why) = missing.or(view.no_forecast.as_ref()) {
            let _ = writeln!(out, "No forecast: {why}\n");
        }
        return;
    };
    if account.fingerprint == kernel.fingerprint {
        out.push_str("Forecast of the kernel as it is:\n\n");
    } else {
        let why = view.no_forecast.as_ref().map_or_else(String::new, |why| format!(" (as it is now: {why})"));
        let _ = writeln!(out, "Forecast of another version{why}:\n");
    }
    out.push_str(&markdown::forecast(view, account));
    out.push('\n');
}

/// The kernel whose name stands at a place, and where.
fn name_at(view: &View, at: usize) -> Option<(Range<usize>, &KernelFacts)> {
    let is_at = |range: &Range<usize>| range.start <= at && at <= range.end;
    let definition =
        view.analysis.kernels.iter().filter_map(|kernel| Some((view.range_now(&kernel.name_range)?, kernel)));
    let launch = view
        .analysis
        .launches
        .iter()
        .filter_map(|launch| Some((view.range_now(&launch.name_range)?, view.kernel(&launch.kernel)?)));
    definition.chain(launch).find(|(range, _)| is_at(range))
}

fn history_of(out: &mut String, view: &View, kernel: &KernelFacts, history: &KernelHistory) {
    out.push_str("| when | device | shape | time | speed | code | hypothesis |\n|---|---|---|---|---|---|---|\n");
    for row in history.rows.iter().rev().take(MOST_ROWS) {
        let is_current = row.fingerprint.as_deref() == Some(kernel.fingerprint.as_str());
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            moment::utc(row.at_ms),
            devices::shown(&row.device),
            cell(&shape(row)),
            time(row),
            cell(&speed(row)),
            if is_current { "as now" } else { "other version" },
            cell(row.hypothesis.as_deref().unwrap_or_default()),
        );
    }
    if history.rows.len() > MOST_ROWS {
        let _ = writeln!(out, "\nand {} older ones: `kernel-scientist history`", history.rows.len() - MOST_ROWS);
    }
    plots(out, history, view.shows_images);
    if !history.findings.is_empty() {
        out.push_str("\nWhat experiments taught:\n\n");
        for finding in history.findings.iter().rev().take(MOST_FINDINGS) {
            let _ = writeln!(out, "- {finding}");
        }
    }
    let note = |row: &Row| (devices::shown(&row.device), row.device_note.clone());
    let notes: BTreeSet<(String, String)> =
        history.rows.iter().map(note).filter(|(_, note)| !note.is_empty() && !out.contains(note)).collect();
    for (device, note) in notes {
        let _ = writeln!(out, "\n*{device}: {note}*");
    }
}

/// `412 us ±0.4%`, `forecast 412 us`.
fn time(row: &Row) -> String {
    if row.is_measured() {
        figures::spread(row.median_ns, row.low_ns, row.high_ns)
    } else {
        format!("forecast {}", figures::time(row.median_ns))
    }
}

fn shape(row: &Row) -> String {
    row.entry.as_ref().map_or_else(|| row.shape.clone(), |entry| format!("{} in {entry}()", row.shape))
}

fn speed(row: &Row) -> String {
    row.speed.as_ref().map_or_else(String::new, |speed| {
        let other = if speed.is_against_original { "original" } else { "before" };
        let ratio = if row.is_measured() {
            figures::speed(&speed.ratio)
        } else {
            format!("forecast {:.2}x", speed.ratio.ratio)
        };
        match speed.verdict {
            lab::Verdict::Faster | lab::Verdict::Slower => format!("{ratio} {} than {other}", speed.verdict),
            verdict => format!("{ratio} {verdict} against {other}"),
        }
    })
}

/// What was tested in this session and could not be kept as a time: hypotheses that failed.
fn tests_of(out: &mut String, view: &View, kernel: &KernelFacts) {
    let known = view.suggestions.of(&kernel.fingerprint).map_or(&[][..], |known| known);
    for hypothesis in known {
        if let Some(Tested::Failed(why)) = view.suggestions.test_of(&kernel.fingerprint, &hypothesis.key) {
            let _ = writeln!(out, "\n- {}: failed, {why}", hypothesis.title);
        }
    }
}

/// A small plot for each device and shape that was timed more than once, forecasts apart, oldest first: an image where the
/// client shows one, else a line of block characters.
fn plots(out: &mut String, history: &KernelHistory, as_images: bool) {
    type Key<'a> = (&'a str, &'a str, bool);
    let mut series: Vec<(Key<'_>, Vec<f64>)> = Vec::new();
    for row in &history.rows {
        let key = (row.device.as_str(), row.shape.as_str(), row.is_measured());
        match series.iter_mut().find(|(known, _)| *known == key) {
            Some((_, times)) => times.push(row.median_ns),
            None => series.push((key, vec![row.median_ns])),
        }
    }
    for ((device, shape, is_measured), times) in series.iter().filter(|(_, times)| times.len() > 1) {
        let times = &times[times.len().saturating_sub(40)..];
        let plot = if as_images { image(times) } else { format!("`{}`", blocks(times)) };
        let kind = if *is_measured { "" } else { " by forecast" };
        let _ = writeln!(out, "\n{plot} {shape} on {}{kind}, oldest first", devices::shown(device));
    }
}

/// Times as bars in an SVG image within the Markdown itself: the tallest is the slowest.
fn image(times: &[f64]) -> String {
    let slowest = times.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut svg = format!("<svg xmlns='http://www.w3.org/2000/svg' width='{}' height='24'>", times.len() * 7);
    for (at, time) in times.iter().enumerate() {
        let height = (time / slowest * 24.0).clamp(1.0, 24.0);
        let (x, y) = (at * 7, 24.0 - height);
        let _ = write!(svg, "<rect x='{x}' y='{y:.1}' width='6' height='{height:.1}' fill='#4c8dd6'/>");
    }
    svg.push_str("</svg>");
    let escaped: String = svg
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'/' | b':' | b'=' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect();
    format!("![times](data:image/svg+xml,{escaped})")
}

/// Times as a row of blocks: the tallest is the slowest.
fn blocks(times: &[f64]) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let slowest = times.iter().copied().fold(0.0, f64::max);
    let height = |time: f64| if slowest > 0.0 { (time / slowest * 7.0).round().clamp(0.0, 7.0) as usize } else { 0 };
    times.iter().map(|&time| BLOCKS[height(time)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_are_relative_to_the_slowest() {
        assert_eq!(blocks(&[8.0, 4.0, 1.0, 8.0]), "█▅▂█");
        assert_eq!(blocks(&[0.0]), "▁");
    }

    #[test]
    fn images_need_no_escape_in_markdown() {
        let image = image(&[2.0, 1.0]);
        let inside = image.strip_prefix("![times](data:image/svg+xml,").unwrap().strip_suffix(')').unwrap();
        assert!(!inside.contains(['(', ')', ' ', '<', '#']), "{image}");
        assert!(inside.contains("height=%2724.0%27") && inside.contains("height=%2712.0%27"), "{image}");
    }
}
