//! How times, ratios and tables are printed.

use lab::{Figure, SpeedRatio};

/// Widest line of running text.
const WIDTH: usize = 80;

/// A time in the unit that fits it, three significant digits: `412 us`, `1.23 ms`.
pub fn time(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        t if t < 999.5 => (t, "ns"),
        t if t < 999.5e3 => (t / 1e3, "us"),
        t if t < 999.5e6 => (t / 1e6, "ms"),
        t if t < 1e15 => (t / 1e9, "s"),
        _ => return "unknown".into(),
    };
    let digits = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    format!("{value:.digits$} {unit}")
}

/// A time with half of its interval's width as a share of it: `412 us ±0.4%`. An interval as wide as the time itself
/// says nothing: `412 us (spread unknown)`.
pub fn figure(figure: &Figure) -> String {
    spread(figure.median_ns, figure.low_ns, figure.high_ns)
}

/// The same as [`figure`] from its parts.
pub fn spread(median_ns: f64, low_ns: f64, high_ns: f64) -> String {
    let half = (high_ns - low_ns) / 2.0 / median_ns.max(f64::MIN_POSITIVE) * 100.0;
    if half < 100.0 {
        format!("{} ±{half:.1}%", time(median_ns))
    } else {
        format!("{} (spread unknown)", time(median_ns))
    }
}

/// A speed ratio with its 99% interval: `1.82x [1.80, 1.85]`; `1.82x (above 1.20x)` where an end is open, and
/// `1.82x (interval unknown)` where both are.
pub fn speed(speed: &SpeedRatio) -> String {
    let SpeedRatio { ratio, low, high } = *speed;
    let ratio = if is_bounded(ratio) { format!("{ratio:.2}x") } else { "unknown".into() };
    match (low >= 0.001, is_bounded(high)) {
        (true, true) => format!("{ratio} [{low:.2}, {high:.2}]"),
        (true, false) if is_bounded(low) => format!("{ratio} (above {low:.2}x)"),
        (false, true) => format!("{ratio} (below {high:.2}x)"),
        _ => format!("{ratio} (interval unknown)"),
    }
}

/// `1 generation`, `2 generations`.
pub fn counted(number: u32, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Whether an end of an interval says anything: too few samples leave it open, at the largest number there is.
fn is_bounded(ratio: f64) -> bool {
    ratio.is_finite() && ratio < 1000.0
}

/// Text in lines that fit a terminal, broken at spaces; lines after the first begin with so many spaces.
pub fn wrapped(text: &str, hanging: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let indent = line.chars().take_while(|c| *c == ' ').count();
        out.push_str(&" ".repeat(indent));
        let mut used = indent;
        let mut fresh = true;
        for word in line.split_whitespace() {
            let width = word.chars().count();
            if !fresh && used + 1 + width > WIDTH {
                out.push('\n');
                out.push_str(&" ".repeat(hanging));
                used = hanging;
                fresh = true;
            }
            if !fresh {
                out.push(' ');
                used += 1;
            }
            out.push_str(word);
            used += width;
            fresh = false;
        }
        out.push('\n');
    }
    out
}

/// Rows as an aligned table, two spaces between the columns; the first row is the heading.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::from("  ");
        for (cell, &width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width - cell.chars().count() + 2));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// How often predictions held: `3 of 7 gains within their prediction (43%), 3 promised too much, 1 too little; 2 failed`.
pub fn calibration(calibration: &notebook::Calibration) -> String {
    let notebook::Calibration { measured, within, below, above, failed, .. } = calibration;
    let share = calibration.score().map_or_else(String::new, |share| format!(" ({:.0}%)", share * 100.0));
    format!(
        "{within} of {measured} gains within their prediction{share}, {below} promised too much, {above} too little; {failed} failed"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_unit() {
        for (nanoseconds, expected) in
            [(0.5, "0.50 ns"), (12.34, "12.3 ns"), (412_345.0, "412 us"), (1_234_000.0, "1.23 ms"), (2.5e9, "2.50 s")]
        {
            assert_eq!(time(nanoseconds), expected);
        }
    }

    #[test]
    fn times_round_into_the_next_unit() {
        for (nanoseconds, expected) in
            [(999.7, "1.00 us"), (9.996, "10.0 ns"), (99.97, "100 ns"), (f64::MAX, "unknown"), (f64::NAN, "unknown")]
        {
            assert_eq!(time(nanoseconds), expected);
        }
    }

    #[test]
    fn open_intervals_are_named_not_printed() {
        for (low, high, expected) in [
            (1.8, 1.85, "1.82x [1.80, 1.85]"),
            (1.2, f64::MAX, "1.82x (above 1.20x)"),
            (1.2, 1e9, "1.82x (above 1.20x)"),
            (0.0, 2.5, "1.82x (below 2.50x)"),
            (1e-20, 2.5, "1.82x (below 2.50x)"),
            (0.0, f64::MAX, "1.82x (interval unknown)"),
            (0.0, f64::INFINITY, "1.82x (interval unknown)"),
            (f64::NAN, f64::NAN, "1.82x (interval unknown)"),
        ] {
            assert_eq!(speed(&SpeedRatio { ratio: 1.82, low, high }), expected);
        }
        let lost = speed(&SpeedRatio { ratio: f64::MAX, low: f64::MAX, high: f64::MAX });
        assert_eq!(lost, "unknown (interval unknown)");
    }

    #[test]
    fn a_single_sample_has_no_spread() {
        assert_eq!(spread(1e6, 0.99e6, 1.01e6), "1.00 ms ±1.0%");
        assert_eq!(spread(1e6, 0.0, 2e6), "1.00 ms (spread unknown)");
        assert_eq!(spread(1e6, 0.0, f64::MAX), "1.00 ms (spread unknown)");
    }

    #[test]
    fn long_lines_break_at_spaces_and_keep_their_indent() {
        let text = format!("  {}end\nshort\n", "word ".repeat(16));
        let broken = wrapped(&text, 4);
        assert_eq!(broken, format!("  {}word\n    word end\nshort\n", "word ".repeat(14)));
        assert!(broken.lines().all(|line| line.chars().count() <= WIDTH));
        let unbreakable = "x".repeat(100);
        assert_eq!(wrapped(&unbreakable, 4), format!("{unbreakable}\n"));
    }

    #[test]
    fn predictions_are_counted_with_their_share() {
        let of = |predictions: &[(f64, f64, Option<f64>)]| {
            calibration(&notebook::Calibration::of(predictions.iter().copied()))
        };
        assert_eq!(of(&[]), "0 of 0 gains within their prediction, 0 promised too much, 0 too little; 0 failed");
        let some = [(5.0, 9.0, Some(7.0)), (5.0, 9.0, Some(1.0)), (5.0, 9.0, Some(20.0)), (5.0, 9.0, None)];
        assert_eq!(
            of(&some),
            "1 of 3 gains within their prediction (33%), 1 promised too much, 1 too little; 1 failed"
        );
    }

    #[test]
    fn tables_align_whatever_the_characters() {
        let rows = [vec!["kernel".into(), "time".into()], vec!["größe".into(), "1 us".into()]];
        assert_eq!(table(&rows), "  kernel  time\n  größe   1 us\n");
    }
}
