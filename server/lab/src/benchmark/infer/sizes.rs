//! Which numbers are sizes, and how many elements buffers have.

use super::Guess;
use super::words::words;
use crate::benchmark::ElementType;

/// A number that the shapes vary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Size {
    /// Name of the argument, and of the shape's parameter.
    pub(super) name: String,
    /// How often it stands in a product with itself: 2 where the code says `size * size`.
    pub(super) power: u32,
}

/// The sizes of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// In the order of the arguments; never empty.
    pub(super) list: Vec<Size>,
    /// Whether no argument is a size and the one in the list was made up.
    pub(super) invented: bool,
    /// Whether the code compares with the sizes, so that they need be no multiple of anything.
    pub(super) guarded: bool,
}

/// The values of one shape.
pub(super) struct Values {
    pub(super) values: Vec<i64>,
    pub(super) held_out: bool,
}

impl Sizes {
    pub(super) fn find(guesses: &[Guess], texts: &[&str]) -> Self {
        let integers = || guesses.iter().filter(|guess| is_integer(guess));
        let mut names: Vec<&str> =
            integers().map(|guess| guess.name.as_str()).filter(|name| sounds_like_a_size(name)).collect();
        if names.is_empty() {
            names.extend(integers().next().map(|guess| guess.name.as_str()));
        }
        let invented = names.is_empty();
        if invented {
            names.push("n");
        }
        let words: Vec<Vec<&str>> = texts.iter().map(|text| words(text)).collect();
        let guarded = names.iter().any(|name| words.iter().any(|words| is_compared(words, name)));
        let axes = axes(texts);
        let power = |name: &str| match names.len() {
            // One number for the sides of a square or a cube.
            1 if axes > 1 => axes,
            _ if words.iter().any(|words| is_squared(words, name)) => 2,
            _ => 1,
        };
        let list = names.iter().map(|name| Size { name: (*name).to_owned(), power: power(name) }).collect();
        Self { list, invented, guarded }
    }

    /// Elements of each buffer: all sizes together, which no buffer of an ordinary kernel exceeds.
    pub(super) fn count(&self) -> String {
        let factors: Vec<&str> =
            self.list.iter().flat_map(|size| std::iter::repeat_n(size.name.as_str(), size.power as usize)).collect();
        factors.join(" * ")
    }

    /// Two shapes that are shown, one of them odd where the code allows it, and one held out.
    pub(super) fn shapes(&self) -> [Values; 3] {
        let single = self.list.len() == 1 && self.list[0].power == 1;
        let sets: [&[i64]; 3] = match (single, self.total_power()) {
            (true, _) => [&[65536], &[100_003], &[77_777]],
            (false, 0..=2) => [&[256, 256], &[333, 217], &[129, 310]],
            (false, 3) => [&[64, 64, 48], &[37, 53, 41], &[40, 27, 60]],
            _ => [&[16, 16, 16, 16, 16, 16], &[13, 11, 9, 7, 13, 11], &[10, 14, 12, 9, 11, 10]],
        };
        let shape = |set: usize| {
            let value = |(index, _): (usize, &Size)| {
                let value = sets[set][index % sets[set].len()];
                if self.guarded { value } else { (value + 32) / 64 * 64 + 64 * i64::from(value < 32) }
            };
            Values { values: self.list.iter().enumerate().map(value).collect(), held_out: set == 2 }
        };
        [shape(0), shape(1), shape(2)]
    }

    fn total_power(&self) -> u32 {
        self.list.iter().map(|size| size.power).sum()
    }
}

fn is_integer(guess: &Guess) -> bool {
    use ElementType::{I16, I32, I64, U16, U32, U64};
    guess.kind.is_none() && matches!(guess.element.lane, I16 | I32 | I64 | U16 | U32 | U64)
}

/// Names that people give to sizes.
fn sounds_like_a_size(name: &str) -> bool {
    const WHOLE: [&str; 10] = ["n", "m", "k", "w", "h", "d", "nx", "ny", "nz", "len"];
    const PARTS: [&str; 22] = [
        "size",
        "length",
        "count",
        "num",
        "row",
        "col",
        "width",
        "height",
        "depth",
        "dim",
        "batch",
        "element",
        "total",
        "channel",
        "seq",
        "hidden",
        "point",
        "item",
        "entries",
        "particles",
        "bodies",
        "vertices",
    ];
    let lower = name.to_lowercase();
    let lower = lower.trim_matches('_');
    WHOLE.contains(&lower) || PARTS.iter().any(|part| lower.contains(part))
}

/// How many of x, y and z the code has indices in.
fn axes(texts: &[&str]) -> u32 {
    let uses = |axis: &str| {
        texts.iter().any(|text| text.contains(&format!("Idx.{axis}")) || text.contains(&format!("Idx_{axis}")))
    };
    if uses("z") {
        3
    } else if uses("y") {
        2
    } else {
        1
    }
}

fn is_compared(words: &[&str], name: &str) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).map_or("", |before| words[before]);
        let after = words.get(at + 1).copied().unwrap_or_default();
        let compares = |word: &str| matches!(word, "<" | ">" | "<=" | ">=");
        // `i < rows * cols`: the comparison stands before the product.
        let product = before == "*" && words[..at].iter().rev().take(8).any(|word| compares(word));
        *word == name && (compares(before) || compares(after) || product)
    })
}

fn is_squared(words: &[&str], name: &str) -> bool {
    words.windows(3).any(|three| three == [name, "*", name])
}
