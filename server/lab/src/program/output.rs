//! Whether two versions of a program printed the same.
//!
//! - Lines that carry timings are left out: those with a word of time or speed (`time`, `elapsed`, `bandwidth`, ...) or a
//!   number followed by such a unit (`ms`, `us`, `GB/s`, `GFLOPS`, ...).
//! - Lines that differ between two runs of the baseline itself are left out: they hold random numbers, addresses, dates.
//! - The other lines must agree in number and order. Between numbers, text must be the same but for spaces. Numbers
//!   written as integers must be equal; others may differ by [`RELATIVE`] of the larger one or by [`ABSOLUTE`].
//!   Addresses (`0x` and at least eight digits) agree with any address.

/// Largest relative difference of two numbers that count as the same.
pub const RELATIVE: f64 = 1e-3;
/// Largest absolute difference of two numbers that count as the same: prints of rounding errors differ in every digit.
pub const ABSOLUTE: f64 = 1e-5;

/// Words that make a line one about time.
const TIMING_WORDS: [&str; 20] = [
    "time",
    "times",
    "timing",
    "timings",
    "elapsed",
    "duration",
    "took",
    "latency",
    "speedup",
    "bandwidth",
    "throughput",
    "performance",
    "perf",
    "runtime",
    "cycles",
    "clock",
    "fps",
    "benchmark",
    "faster",
    "slower",
];
/// Units that make a line one about time where they follow a number.
const TIMING_UNITS: [&str; 31] = [
    "s",
    "sec",
    "secs",
    "second",
    "seconds",
    "ms",
    "msec",
    "millisecond",
    "milliseconds",
    "us",
    "usec",
    "µs",
    "μs",
    "microsecond",
    "microseconds",
    "ns",
    "nsec",
    "nanosecond",
    "nanoseconds",
    "gb/s",
    "mb/s",
    "kb/s",
    "tb/s",
    "gib/s",
    "mib/s",
    "gflops",
    "gflop/s",
    "tflops",
    "tflop/s",
    "mflops",
    "flops",
];

/// What the baseline prints.
#[derive(Clone, Debug)]
pub struct Expected {
    lines: Vec<String>,
    /// Lines that the baseline does not print the same twice.
    varying: Vec<bool>,
    /// Whether the baseline prints another number of lines each time: nothing can be compared then.
    incomparable: bool,
}

impl Expected {
    /// From one run of the baseline.
    pub fn new(output: &str) -> Self {
        let lines: Vec<_> = lines(output).map(str::to_owned).collect();
        Self { varying: vec![false; lines.len()], lines, incomparable: false }
    }

    /// Learns from another run of the baseline which lines vary by themselves.
    pub fn learn(&mut self, output: &str) {
        let again: Vec<_> = lines(output).collect();
        self.incomparable |= again.len() != self.lines.len();
        for ((varying, first), second) in self.varying.iter_mut().zip(&self.lines).zip(again) {
            *varying |= !same_line(first, second);
        }
    }

    /// Compares with what a candidate printed. The error says where and how they differ.
    pub fn check(&self, output: &str) -> Result<(), String> {
        if self.incomparable {
            return Ok(());
        }
        let got: Vec<_> = lines(output).collect();
        let mut pairs = self.lines.iter().zip(&self.varying).zip(&got);
        if let Some(((expected, _), got)) =
            pairs.find(|((expected, varying), got)| !**varying && !same_line(expected, got))
        {
            return Err(format!("its output differs from the original's: expected {expected:?}, got {:?}", got.trim()));
        }
        match self.lines.len().cmp(&got.len()) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Greater => {
                Err(format!("its output ends too early: the original also prints {:?}", self.lines[got.len()]))
            }
            std::cmp::Ordering::Less => {
                Err(format!("it prints more than the original: {:?}", got[self.lines.len()].trim()))
            }
        }
    }
}

/// The lines that are compared.
fn lines(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter(|line| !line.trim().is_empty() && !carries_timing(line))
}

/// Whether a line is about time or speed.
pub fn carries_timing(line: &str) -> bool {
    let lower = line.to_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '.');
    let words: Vec<&str> =
        lower.split(|c: char| !is_word(c)).map(|word| word.trim_matches('.')).filter(|word| !word.is_empty()).collect();
    words.iter().enumerate().any(|(index, word)| {
        let letters = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number_before = letters.len() < word.len() || index > 0 && words[index - 1].parse::<f64>().is_ok();
        TIMING_WORDS.contains(word) || (number_before && TIMING_UNITS.contains(&letters)) || is_rate(word)
    })
}

/// `gb/s` and its like are unmistakable wherever they stand.
fn is_rate(word: &str) -> bool {
    TIMING_UNITS
        .iter()
        .any(|unit| unit.len() >= 4 && (unit.ends_with("/s") || unit.ends_with("flops")) && word == *unit)
}

/// Whether two lines agree.
fn same_line(first: &str, second: &str) -> bool {
    let (first, second) = (pieces(first), pieces(second));
    first.len() == second.len() && first.iter().zip(&second).all(|(first, second)| first.agrees_with(second))
}

#[derive(Debug, PartialEq)]
enum Piece<'a> {
    Text(&'a str),
    Integer(&'a str),
    Real(f64),
    Address,
}

impl Piece<'_> {
    fn agrees_with(&self, other: &Piece<'_>) -> bool {
        match (self, other) {
            (Self::Text(first), Piece::Text(second)) => first == second,
            (Self::Integer(first), Piece::Integer(second)) => {
                first.trim_start_matches('+') == second.trim_start_matches('+')
            }
            (Self::Address, Piece::Address) => true,
            (first, second) => match (first.value(), second.value()) {
                (Some(first), Some(second)) => close(first, second),
                _ => false,
            },
        }
    }

    fn value(&self) -> Option<f64> {
        match self {
            Self::Integer(digits) => digits.parse().ok(),
            Self::Real(value) => Some(*value),
            Self::Text(_) | Self::Address => None,
        }
    }
}

fn close(first: f64, second: f64) -> bool {
    let difference = (first - second).abs();
    first == second
        || (first.is_nan() && second.is_nan())
        || difference <= ABSOLUTE
        || difference <= RELATIVE * first.abs().max(second.abs())
}

/// Splits a line into numbers and the text between them; spaces only separate.
fn pieces(line: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for word in line.split_whitespace() {
        let mut rest = word;
        while !rest.is_empty() {
            let (piece, length) = number(rest).unwrap_or_else(|| {
                let end = rest.char_indices().skip(1).map(|(at, _)| at);
                let starts_number = |&at: &usize| {
                    let inside_word = rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                    !inside_word && number(&rest[at..]).is_some()
                };
                let length = end.clone().find(starts_number).unwrap_or(rest.len());
                (Piece::Text(&rest[..length]), length)
            });
            pieces.push(piece);
            rest = &rest[length..];
        }
    }
    pieces
}

/// The number at the start of `text`, with its length in bytes.
fn number(text: &str) -> Option<(Piece<'_>, usize)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        let count = hexadecimal.bytes().take_while(u8::is_ascii_hexdigit).count();
        return (count >= 8).then_some((Piece::Address, 2 + count));
    }
    let sign = usize::from(text.starts_with(['+', '-']));
    for special in ["nan", "inf", "NaN", "INF"] {
        if text[sign..].starts_with(special) && !text[sign + special.len()..].starts_with(char::is_alphanumeric) {
            let length = sign + special.len();
            return Some((Piece::Real(text[..length].parse().ok()?), length));
        }
    }
    let whole = digits(&text[sign..]);
    let mut length = sign + whole;
    let mut is_real = false;
    if text[length..].starts_with('.') {
        let fraction = digits(&text[length + 1..]);
        if whole + fraction > 0 {
            is_real = true;
            length += 1 + fraction;
        }
    }
    if length == sign {
        return None;
    }
    if text[length..].starts_with(['e', 'E']) {
        let after = &text[length + 1..];
        let exponent_sign = usize::from(after.starts_with(['+', '-']));
        let exponent = digits(&after[exponent_sign..]);
        if exponent > 0 {
            is_real = true;
            length += 1 + exponent_sign + exponent;
        }
    }
    let number = &text[..length];
    Some((if is_real { Piece::Real(number.parse().ok()?) } else { Piece::Integer(number) }, length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_about_time_are_known() {
        let cases = [
            ("Kernel time: 3.2", true),
            ("took 5", true),
            ("3.25 ms", true),
            ("0.5us per launch", true),
            ("copied at 812.5 GB/s", true),
            ("GFLOPS = 12", true),
            ("Elapsed 1", true),
            ("run in 2 seconds", true),
            ("average 12.5 µs", true),
            ("sometimes 3", false),
            ("s = 3", false),
            ("sum of 3 items", false),
            ("element 5: 7.25", false),
            ("PASSED", false),
            ("items 12", false),
        ];
        for (line, expected) in cases {
            assert_eq!(carries_timing(line), expected, "{line}");
        }
    }

    #[test]
    fn numbers_agree_within_tolerance_and_text_exactly() {
        let cases = [
            ("sum 1.0000", "sum 1.0005", true),
            ("sum 1.0000", "sum 1.0050", false),
            ("max error 1.2e-07", "max error 0", true),
            ("n = 1000", "n = 1001", false),
            ("n = 1000", "n = 1000.0", true),
            ("a,b,1.5;2.5", "a,b,1.5;2.5001", true),
            ("a,b,1.5;2.5", "a,c,1.5;2.5", false),
            ("spaces   3", "  spaces 3", true),
            ("at 0x7ffd12345678", "at 0x55aa12345678", true),
            ("mask 0xff", "mask 0xfe", false),
            ("nan -inf", "nan -inf", true),
            ("nan", "1.0", false),
            ("float4", "float3", false),
            ("x=-1.0", "x=1.0", false),
            ("[1, 2]", "[1, 2, 3]", false),
            ("[1,2]", "[1,3]", false),
        ];
        for (first, second, expected) in cases {
            assert_eq!(same_line(first, second), expected, "{first} / {second}");
        }
    }

    #[test]
    fn outputs_are_compared_line_by_line() {
        let original = "start\nsum 1.5\ntime 3 ms\n\nend\n";
        let cases = [
            ("start\nsum 1.5001\ntime 9 ms\nend\n", None),
            ("start\nsum 1.5\nend\n", None),
            ("start\nsum 2.5\ntime 3 ms\nend\n", Some("expected \"sum 1.5\", got \"sum 2.5\"")),
            ("start\nsum 1.5\n", Some("ends too early: the original also prints \"end\"")),
            ("start\nsum 1.5\nend\nmore\n", Some("prints more than the original: \"more\"")),
        ];
        for (output, expected) in cases {
            let result = Expected::new(original).check(output);
            match expected {
                None => assert_eq!(result, Ok(()), "{output}"),
                Some(words) => assert!(result.clone().unwrap_err().contains(words), "{result:?}"),
            }
        }
    }

    #[test]
    fn what_the_baseline_does_not_print_twice_is_left_out() {
        let mut expected = Expected::new("seed 17\nsum 3\n");
        assert!(expected.check("seed 18\nsum 3\n").is_err());
        expected.learn("seed 99\nsum 3\n");
        assert_eq!(expected.check("seed 18\nsum 3\n"), Ok(()));
        assert!(expected.check("seed 18\nsum 4\n").is_err());
    }

    proptest! {
        #[test]
        fn every_output_agrees_with_itself(output in "[ -~\n\u{e0}-\u{f0}]{0,200}") {
            prop_assert_eq!(Expected::new(&output).check(&output), Ok(()));
        }
    }
}
