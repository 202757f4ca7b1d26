//! The lines that a change cured: what a forecast says of them before and after.

use std::collections::BTreeMap;

use lab::forecast::{KernelForecast, LineForecast};
use lab::workbench::ShapeForecast;
use scientist::symptoms;
use serde::Serialize;
use similar::{DiffOp, TextDiff};

use super::account::percent;
use crate::cli::figures;

/// Changes that save less than this share of a kernel's time are left out.
const LEAST_SAVED: f64 = 0.03;
/// Cures told at most.
const MOST: usize = 4;

/// A stretch of lines that costs less than it did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cured {
    /// The kernel.
    pub kernel: String,
    /// Its line, or the first of its lines, in the version before.
    pub line: u32,
    /// That line's text.
    pub text: String,
    /// What was wrong with it, in words; empty where it only took long.
    pub symptom: String,
    /// What is still wrong with it.
    pub left: String,
    /// Microseconds that it took.
    pub before_us: f64,
    /// Microseconds that it takes, or what took its place.
    pub after_us: f64,
    /// The same as shares of the kernel's time before.
    pub saved_share: f64,
}

/// What a change cured, the most first, at the shape where the kernel takes longest.
pub fn between(before_text: &str, before: &[ShapeForecast], after_text: &str, after: &[ShapeForecast]) -> Vec<Cured> {
    let (stretches, added) = stretches(before_text, after_text);
    let lines: Vec<&str> = before_text.lines().collect();
    let mut all = Vec::new();
    for (kernel, old) in longest(before) {
        let Some(new) = longest(after).remove(&kernel) else { continue };
        let costs = |kernel: &KernelForecast| kernel.us * f64::from(kernel.launches.max(1));
        let time = |kernel: &KernelForecast, lines: &[&LineForecast]| {
            // From 0, since the sum of nothing is -0.
            lines.iter().fold(0.0, |sum, line| sum + costs(kernel) * line.share)
        };
        let of_old = |stretch: &Stretch| time(old, &inside(old, &stretch.old));
        let removed = stretches.iter().enumerate().filter(|(_, stretch)| stretch.new.is_empty());
        let replaced = removed.max_by(|(_, one), (_, other)| of_old(one).total_cmp(&of_old(other)));
        let replaced = replaced.map(|(place, _)| place);
        for (place, stretch) in stretches.iter().enumerate() {
            let (old_lines, mut new_lines) = (inside(old, &stretch.old), inside(new, &stretch.new));
            if replaced == Some(place) {
                new_lines = added.iter().flat_map(|lines| inside(new, lines)).collect();
            }
            let (before_us, after_us) = (time(old, &old_lines), time(new, &new_lines));
            let Some(worst) = old_lines.iter().max_by(|one, other| one.share.total_cmp(&other.share)) else { continue };
            let saved_share = (before_us - after_us) / costs(old).max(f64::MIN_POSITIVE);
            if saved_share < LEAST_SAVED {
                continue;
            }
            all.push(Cured {
                kernel: kernel.clone(),
                line: worst.line,
                text: lines.get(worst.line as usize - 1).map_or_else(String::new, |text| text.trim().to_owned()),
                symptom: in_words(&old_lines),
                left: in_words(&new_lines),
                before_us,
                after_us,
                saved_share,
            });
        }
    }
    all.sort_by(|one, other| other.saved_share.total_cmp(&one.saved_share));
    all.truncate(MOST);
    all
}

/// The cures as text; empty where there is none.
pub fn text(cured: &[Cured], device: &str) -> String {
    if cured.is_empty() {
        return String::new();
    }
    let mut out = format!("Lines that were cured (forecast for {device}):\n");
    for cure in cured {
        out.push_str(&format!("  line {:>3}  {}\n", cure.line, cure.text));
        let what = match (cure.symptom.as_str(), cure.left.as_str()) {
            ("", _) => String::new(),
            (symptom, "") => format!("{symptom} -> none; "),
            (symptom, left) if symptom == left => format!("{symptom}, as before; "),
            (symptom, left) => format!("{symptom} -> {left}; "),
        };
        out.push_str(&format!(
            "            {what}{} -> {} ({} of the kernel's time saved)\n",
            figures::time(cure.before_us * 1e3),
            figures::time(cure.after_us * 1e3),
            percent(cure.saved_share)
        ));
    }
    out
}

/// Lines of one version, from 1, and those that stand in their place in the other.
struct Stretch {
    old: std::ops::Range<u32>,
    new: std::ops::Range<u32>,
}

/// Lines that stayed, one by one, and stretches that were written anew or removed; and lines that were added elsewhere: the
/// work of what was removed goes on there.
fn stretches(before: &str, after: &str) -> (Vec<Stretch>, Vec<std::ops::Range<u32>>) {
    let range = |first: usize, count: usize| first as u32 + 1..(first + count) as u32 + 1;
    let (mut all, mut added) = (Vec::new(), Vec::new());
    for op in TextDiff::from_lines(before, after).ops() {
        match *op {
            DiffOp::Equal { old_index, new_index, len } => {
                all.extend((0..len).map(|at| Stretch { old: range(old_index + at, 1), new: range(new_index + at, 1) }))
            }
            DiffOp::Delete { old_index, old_len, new_index } => {
                all.push(Stretch { old: range(old_index, old_len), new: range(new_index, 0) });
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                all.push(Stretch { old: range(old_index, old_len), new: range(new_index, new_len) });
            }
            DiffOp::Insert { new_index, new_len, .. } => added.push(range(new_index, new_len)),
        }
    }
    (all, added)
}

/// Of each kernel, by its name without template arguments, the launch that takes longest.
fn longest(shapes: &[ShapeForecast]) -> BTreeMap<String, &KernelForecast> {
    let mut longest: BTreeMap<String, &KernelForecast> = BTreeMap::new();
    for kernel in shapes.iter().flat_map(|shape| &shape.kernels) {
        let bare = kernel.name.split('<').next().unwrap_or(&kernel.name).trim().to_owned();
        let known = longest.entry(bare).or_insert(kernel);
        if kernel.total_ns() > known.total_ns() {
            *known = kernel;
        }
    }
    longest
}

fn inside<'k>(kernel: &'k KernelForecast, lines: &std::ops::Range<u32>) -> Vec<&'k LineForecast> {
    kernel.lines.iter().filter(|line| line.line != 0 && lines.contains(&line.line)).collect()
}

/// What is wrong with these lines, the worst first.
fn in_words(lines: &[&LineForecast]) -> String {
    let mut sick: Vec<_> = lines.iter().flat_map(|line| symptoms::of_line(line)).collect();
    sick.sort_by(|one, other| other.share.total_cmp(&one.share));
    sick.first().map_or_else(String::new, |sick| sick.what.clone())
}

#[cfg(test)]
mod tests {
    use super::super::account::tests::{access, kernel, line};
    use super::*;

    fn shapes(kernel: KernelForecast) -> Vec<ShapeForecast> {
        vec![ShapeForecast { shape: None, held_out: false, kernels: vec![kernel], caveat: None }]
    }

    const BEFORE: &str = "__shared__ float t[32][32];\nt[y][x] = in[i];\nout[i] = t[x][y];\nslow();\n";
    const AFTER: &str = "__shared__ float t[32][33];\nt[y][x] = in[i];\nout[i] = t[x][y];\nquick();\nmore();\n";

    #[test]
    fn what_was_removed_costs_what_was_added_elsewhere() {
        let before = shapes(kernel(100.0, vec![line(1, 0.9, Vec::new()), line(2, 0.1, Vec::new())]));
        for (text, lines, after_us) in [
            ("kept();\nquick();\n", vec![line(1, 0.25, Vec::new()), line(2, 0.75, Vec::new())], 90.0),
            ("kept();\n", vec![line(1, 1.0, Vec::new())], 0.0),
        ] {
            let cured = between("slow();\nkept();\n", &before, text, &shapes(kernel(40.0, lines)));
            assert_eq!((cured.len(), cured[0].line, cured[0].after_us), (1, 1, after_us), "{text}");
            assert!(cured[0].after_us.is_sign_positive());
        }
    }

    #[test]
    fn a_line_is_cured_that_stayed_and_one_that_was_written_anew() {
        let before = shapes(kernel(
            100.0,
            vec![
                line(3, 0.6, vec![access("shared", "load", 0.0, 32.0)]),
                line(4, 0.3, Vec::new()),
                line(2, 0.1, Vec::new()),
            ],
        ));
        let after = shapes(kernel(
            30.0,
            vec![
                line(3, 0.3, vec![access("shared", "load", 0.0, 1.0)]),
                line(4, 0.2, Vec::new()),
                line(5, 0.1, Vec::new()),
                line(2, 0.4, Vec::new()),
            ],
        ));
        let cured = between(BEFORE, &before, AFTER, &after);
        let told: Vec<_> = cured.iter().map(|cure| (cure.line, cure.symptom.as_str(), cure.left.as_str())).collect();
        assert_eq!(told, [(3, "32-way bank conflicts", ""), (4, "", "")]);
        assert!((cured[0].before_us - 180.0).abs() < 1e-9 && (cured[0].after_us - 27.0).abs() < 1e-9, "{cured:?}");
        insta::assert_snapshot!(text(&cured, "MI300X"), @r"
        Lines that were cured (forecast for MI300X):
          line   3  out[i] = t[x][y];
                    32-way bank conflicts -> none; 180 us -> 27.0 us (51% of the kernel's time saved)
          line   4  slow();
                    90.0 us -> 27.0 us (21% of the kernel's time saved)
        ");
    }

    #[test]
    fn nothing_is_cured_where_nothing_changed() {
        let before = shapes(kernel(100.0, vec![line(3, 1.0, vec![access("shared", "load", 0.0, 32.0)])]));
        let cured = between(BEFORE, &before, BEFORE, &before);
        assert_eq!((cured.len(), text(&cured, "MI300X").as_str()), (0, ""));
    }
}
