//! Whether a plan repeats an earlier one.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::stages::Hypothesis;

/// Share of common words from which two titles say the same.
const TITLES: f64 = 0.75;
/// Share of common words from which two rubrics do.
const RUBRICS: f64 = 0.7;

/// What a plan says, ready to be compared with many others.
pub(super) struct Said<'p> {
    plan: &'p Hypothesis,
    title: Vec<u64>,
    rubric: Vec<u64>,
}

impl<'p> Said<'p> {
    pub(super) fn by(plan: &'p Hypothesis) -> Self {
        Self { plan, title: words(&plan.title), rubric: words(&plan.rubric) }
    }
}

/// The first of the earlier plans that a plan is too like: about the same kernel, in much the same words. Numbers are words:
/// another tile size is another plan.
pub(super) fn repeats<'p>(plan: &Said<'_>, earlier: impl IntoIterator<Item = &'p Said<'p>>) -> Option<&'p Hypothesis> {
    let is_alike = |other: &&Said<'_>| {
        other.plan.kernel == plan.plan.kernel
            && (likeness(&plan.title, &other.title) >= TITLES || likeness(&plan.rubric, &other.rubric) >= RUBRICS)
    };
    earlier.into_iter().find(is_alike).map(|other| other.plan)
}

/// Common words over all words, 0 to 1.
fn likeness(one: &[u64], other: &[u64]) -> f64 {
    let common = one.iter().filter(|word| other.binary_search(word).is_ok()).count();
    let all = one.len() + other.len() - common;
    // Two or three words in common are no sign of anything.
    if all < 4 { f64::from(u8::from(one == other && all > 0)) } else { common as f64 / all as f64 }
}

/// Hashes of a text's words, each once, in order.
fn words(text: &str) -> Vec<u64> {
    const EMPTY: [&str; 22] = [
        "the", "and", "for", "with", "from", "into", "that", "this", "each", "use", "per", "its", "are", "one", "to",
        "of", "in", "at", "by", "on", "is", "it",
    ];
    let hash = |word: String| {
        let mut hasher = DefaultHasher::new();
        word.hash(&mut hasher);
        hasher.finish()
    };
    let mut words: Vec<u64> = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .map(str::to_lowercase)
        .filter(|word| (word.len() > 1 || word.parse::<u64>().is_ok()) && !EMPTY.contains(&word.as_str()))
        .map(hash)
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::super::tests::plan;
    use super::*;

    #[test]
    fn plans_in_other_words_of_the_same_are_told_apart_from_others() {
        let check = |title: &str, rubric: &str, expected: bool| {
            let earlier =
                plan("Tile A and B through LDS in 32x32 blocks", "Declare As[32][33] and Bs[32][33], load, sync");
            let plan = plan(title, rubric);
            assert_eq!(repeats(&Said::by(&plan), [&Said::by(&earlier)]).is_some(), expected, "{title}");
        };
        check("Tile A and B through LDS in 32x32 blocks", "anything else at all", true);
        check("tile A and B through the LDS, in 32x32 blocks.", "quite different words here", true);
        check("LDS blocking", "Declare As[32][33] and Bs[32][33]; load both, then sync", true);
        check(
            "Tile A and B through LDS in 64x64 blocks with 4x4 results",
            "Every work-item computes 16 results",
            false,
        );
        check("Load float4 from B", "reinterpret_cast to float4", false);
        check("", "", false);
    }

    #[test]
    fn two_tile_sizes_are_two_plans() {
        let eight = plan("8x8 results a work-item from 128x128 tiles", "BM=BN=128, BK=8, TM=TN=8, 256 work-items.");
        let wide = plan(
            "Tiles of 64x128 with 4x8 results a work-item",
            "BN=128, TN=8; As[16][64], Bs[16][128]; 256 work-items.",
        );
        assert!(repeats(&Said::by(&wide), [&Said::by(&eight)]).is_none());
    }

    #[test]
    fn another_kernel_is_another_plan() {
        let earlier = plan("Pad the tile by one column", "t[32][33]");
        let other = Hypothesis { kernel: "other".into(), ..earlier.clone() };
        assert!(repeats(&Said::by(&earlier), [&Said::by(&earlier)]).is_some());
        assert!(repeats(&Said::by(&other), [&Said::by(&earlier)]).is_none());
    }
}
