//! Hover on a kernel's name, where it stands and where it is launched: its history.

use std::fmt::Write;
use std::ops::Range;

use super::analysis::KernelFacts;
use super::history::{KernelHistory, Row};
use super::inlay_hints::device;
use super::suggestions::Tested;
use super::view::View;
use crate::cli::figures;
use crate::cli::report::moment;

/// Rows of the table and findings shown at most, the newest.
const MOST_ROWS: usize = 12;
const MOST_FINDINGS: usize = 5;

/// What is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Hover {
    /// The name, in the present text.
    pub range: Range<usize>,
    /// Markdown.
    pub text: String,
}

/// What is said of the name at a place of the present text, if it is a kernel's.
pub fn hover(view: &View, at: usize) -> Option<Hover> {
    let (range, kernel) = name_at(view, at)?;
    let mut text = format!("**{}**", kernel.qualified_name);
    match view.history_of(kernel) {
        Some(history) if !history.rows.is_empty() => history_of(&mut text, view, kernel, history),
        _ => text.push_str("\n\nNot measured yet: **Time** over the kernel checks and times it.\n"),
    }
    tests_of(&mut text, view, kernel);
    Some(Hover { range, text })
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
    out.push_str(
        "\n\n| when (UTC) | device | shape | median | speed | code | hypothesis |\n|---|---|---|---|---|---|---|\n",
    );
    for row in history.rows.iter().rev().take(MOST_ROWS) {
        let is_current = row.fingerprint.as_deref() == Some(kernel.fingerprint.as_str());
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            moment::utc(row.at_ms),
            device(row),
            cell(&shape(row)),
            figures::spread(row.median_ns, row.low_ns, row.high_ns),
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
    let notes: std::collections::BTreeSet<&str> =
        history.rows.iter().map(|row| row.device_note.as_str()).filter(|note| !note.is_empty()).collect();
    for note in notes {
        let _ = writeln!(out, "\n*{note}*");
    }
}

fn shape(row: &Row) -> String {
    row.entry.as_ref().map_or_else(|| row.shape.clone(), |entry| format!("{} in {entry}()", row.shape))
}

fn speed(row: &Row) -> String {
    row.speed.as_ref().map_or_else(String::new, |speed| {
        let other = if speed.is_against_original { "original" } else { "before" };
        format!("{} {} than {other}", figures::speed(&speed.ratio), speed.verdict)
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

/// A small plot for each device and shape that was measured more than once, oldest first: an image where the client shows
/// one, else a line of block characters.
fn plots(out: &mut String, history: &KernelHistory, as_images: bool) {
    let mut series: Vec<((&str, &str), Vec<f64>)> = Vec::new();
    for row in &history.rows {
        let key = (device(row), row.shape.as_str());
        match series.iter_mut().find(|(known, _)| *known == key) {
            Some((_, times)) => times.push(row.median_ns),
            None => series.push((key, vec![row.median_ns])),
        }
    }
    for ((device, shape), times) in series.iter().filter(|(_, times)| times.len() > 1) {
        let times = &times[times.len().saturating_sub(40)..];
        let plot = if as_images { image(times) } else { format!("`{}`", blocks(times)) };
        let _ = writeln!(out, "\n{plot} {shape} on {device}, oldest first");
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

/// Text that is safe in a table's cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
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

    #[test]
    fn cells_do_not_break_tables() {
        assert_eq!(cell("a|b\nc"), "a\\|b c");
    }
}
