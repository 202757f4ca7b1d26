//! How times, ratios and tables are printed.

use lab::{Figure, SpeedRatio};

/// A time in the unit that fits it, three significant digits: `412 us`, `1.23 ms`.
pub fn time(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        t if t < 1e3 => (t, "ns"),
        t if t < 1e6 => (t / 1e3, "us"),
        t if t < 1e9 => (t / 1e6, "ms"),
        t => (t / 1e9, "s"),
    };
    let digits = if value < 10.0 {
        2
    } else if value < 100.0 {
        1
    } else {
        0
    };
    format!("{value:.digits$} {unit}")
}

/// A time with half of its interval's width as a share of it: `412 us ±0.4%`.
pub fn figure(figure: &Figure) -> String {
    let half = (figure.high_ns - figure.low_ns) / 2.0 / figure.median_ns.max(f64::MIN_POSITIVE) * 100.0;
    format!("{} ±{half:.1}%", time(figure.median_ns))
}

/// A speed ratio with its 99% interval: `1.82x [1.80, 1.85]`.
pub fn speed(speed: &SpeedRatio) -> String {
    format!("{:.2}x [{:.2}, {:.2}]", speed.ratio, speed.low, speed.high)
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
    fn tables_align_whatever_the_characters() {
        let rows = [vec!["kernel".into(), "time".into()], vec!["größe".into(), "1 us".into()]];
        assert_eq!(table(&rows), "  kernel  time\n  größe   1 us\n");
    }
}
