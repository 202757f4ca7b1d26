//! Markdown that hints and hovers share: tables of times, and accounts of forecasts.

use std::fmt::Write;

use super::forecasts::{Account, Mark};
use super::history::{Kind, Row};
use super::view::View;
use crate::cli::figures;
use crate::devices;
use crate::forecasts::account as told;

/// Rows of one device and kind as a table, with what they mean.
pub fn times(rows: &[&Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let mut out = match first.kind {
        Kind::Measured { .. } => "| shape | median | 95% interval | samples |\n|---|---|---|---|\n",
        Kind::Forecast => "| shape | forecast | nine of ten within |\n|---|---|---|\n",
    }
    .to_owned();
    for row in rows {
        let within = format!("{} .. {}", figures::time(row.low_ns), figures::time(row.high_ns));
        let _ = match row.kind {
            Kind::Measured { samples } => {
                writeln!(out, "| {} | {} | {within} | {samples} |", cell(&row.shape), figures::time(row.median_ns))
            }
            Kind::Forecast => writeln!(out, "| {} | {} | {within} |", cell(&row.shape), figures::time(row.median_ns)),
        };
    }
    if !first.device_note.is_empty() {
        let _ = writeln!(out, "\n{}: {}", devices::shown(&first.device), first.device_note);
    }
    out
}

/// The forecast of a kernel: each launch shape, what the longest is made of, and what all that is worth.
pub fn forecast(view: &View, account: &Account) -> String {
    let Some(shown) = &view.forecast else { return String::new() };
    let basis = &shown.forecast.basis;
    let mut out = "| shape | forecast | nine of ten within | bound by |\n|---|---|---|---|\n".to_owned();
    for launch in &account.launches {
        let forecast = &launch.forecast;
        let time = |us: f64| figures::time(us * 1e3);
        let _ = writeln!(
            out,
            "| {} | {} | {} .. {} | {} |",
            cell(&launch.shape()),
            time(forecast.us),
            time(forecast.low_us),
            time(forecast.high_us),
            forecast.bound
        );
    }
    out.push('\n');
    if let Some(longest) = account.launches.first() {
        // The time stands in the table.
        for (name, value) in told::summary(&longest.forecast).into_iter().filter(|(name, _)| *name != "time") {
            let _ = writeln!(out, "- {name}: {value}");
        }
    }
    let _ = writeln!(out, "\n{}: {}", basis.title, basis.note());
    if let Some(note) = &shown.forecast.note {
        let _ = writeln!(out, "\n{note} (here: the code action **Create benchmark**)");
    }
    out
}

/// What is forecast of a line.
pub fn line(view: &View, kernel: &Account, mark: &Mark) -> String {
    let Some(shown) = &view.forecast else { return String::new() };
    let basis = &shown.forecast.basis;
    let mut out = format!("**{}** of the time of {}", told::percent(mark.line.share), kernel.kernel);
    if let Some(launch) = kernel.launches.first() {
        let took = launch.forecast.us * mark.line.share;
        let _ = write!(out, ": {} of {}", figures::time(took * 1e3), figures::time(launch.forecast.us * 1e3));
        let _ = write!(out, " ({})", launch.shape());
    }
    out.push_str("\n\n");
    for note in told::notes(&mark.line) {
        let _ = writeln!(out, "- {}", note.replace("  <--", " ◀").replace(" <--", " ◀"));
    }
    let _ = writeln!(out, "\n*Forecast for {}, not a measurement ({})*", basis.title, basis.validation());
    out
}

/// Text that is safe in a table's cell.
pub fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_do_not_break_tables() {
        assert_eq!(cell("a|b\nc"), "a\\|b c");
    }
}
