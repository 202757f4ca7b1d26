//! Runs the tests that stand in the catalog's files.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use lab::Cancel;
use lab::benchmark::Benchmark;

use super::rewrites::FILES;
use super::{Catalog, Loaded, Queries};
use crate::stages::{Hypothesis, StageError};

fn only(name: &str) -> Catalog {
    let (_, text) = FILES.iter().find(|(file, _)| *file == name).expect("a file of the catalog");
    if name == "joint" {
        return Catalog::load();
    }
    let loaded = Loaded::read(name, text, &mut Queries::default()).unwrap_or_else(|error| panic!("{error}"));
    Catalog { hypotheses: vec![loaded].into(), outside: None, turn: Arc::default() }
}

impl Catalog {
    fn entry(&self, name: &str) -> &super::Entry {
        let named = self.hypotheses.iter().find(|loaded| loaded.entry.name == name);
        &named.expect("a file of the catalog").entry
    }
}

/// Feeds the catalog's texts by the benchmark file of a test, if it has one.
fn feed(catalog: &mut Catalog, benchmark: &str) {
    let parse = |text| Benchmark::parse(Path::new("test.bench.toml"), text).unwrap_or_else(|error| panic!("{error}"));
    let benchmark = (!benchmark.is_empty()).then(|| parse(benchmark));
    catalog.outside = benchmark.as_ref().and_then(super::Outside::of);
}

#[test]
fn every_file_is_built_in_and_every_built_in_file_is_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../queries/catalog");
    let mut there: Vec<String> = std::fs::read_dir(&folder)
        .expect("queries/catalog")
        .map(|file| file.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    there.sort();
    let mut built_in: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
    built_in.sort_unstable();
    assert_eq!(there, built_in);
}

#[test]
fn every_hypothesis_is_read_and_has_both_kinds_of_tests() {
    let mut queries = Queries::default();
    for (name, text) in FILES {
        let loaded = Loaded::read(name, text, &mut queries).unwrap_or_else(|error| panic!("{error}"));
        let entry = loaded.entry;
        assert!(!entry.applies.is_empty(), "{name}: a test where it applies is missing");
        assert!(!entry.must_not.is_empty(), "{name}: a test where it must not is missing");
        assert!(entry.gain.min_percent <= entry.gain.max_percent && entry.innovation <= 100, "{name}: range or score");
        assert!(
            !entry.source.is_empty() && !entry.reason.is_empty() && !entry.idea.is_empty(),
            "{name}: a text is empty"
        );
    }
}

#[test]
fn it_applies_where_its_file_says() {
    for (name, _) in FILES {
        let mut catalog = only(name);
        for case in catalog.entry(name).applies.clone() {
            feed(&mut catalog, &case.benchmark);
            let drafts = catalog.apply(&case.before, None, &case.key).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(drafts[0].text, case.after, "{name} on:\n{}\nmade:\n{}", case.before, drafts[0].text);
            assert_eq!(drafts.len(), case.drafts, "{name}: number of drafts");
            let suggested = catalog.suggest(&case.before, None);
            let hypothesis = suggested.iter().find(|h| h.key == case.key).expect("the key among the suggestions");
            for text in [&hypothesis.title, &hypothesis.reason, &drafts[0].report] {
                assert!(!text.contains(['{', '}']) && !text.is_empty(), "{name}: `{text}` has an unfilled word");
            }
        }
    }
}

/// A search may be repeated on its result; every other change is made once at a place.
#[test]
fn it_does_not_apply_again_to_its_own_result() {
    for (name, _) in FILES {
        let mut catalog = only(name);
        for case in catalog.entry(name).applies.clone().into_iter().filter(|_| !SEARCHES.contains(name)) {
            feed(&mut catalog, &case.benchmark);
            assert!(catalog.apply(&case.after, None, &case.key).is_err(), "{name} applies again to:\n{}", case.after);
        }
    }
}

const SEARCHES: &[&str] = &["block-size", "tile-size", "joint"];

#[test]
fn it_does_not_apply_where_its_file_forbids() {
    for (name, _) in FILES {
        let mut catalog = only(name);
        for case in catalog.entry(name).must_not.clone() {
            feed(&mut catalog, &case.benchmark);
            let syntax = hip_syntax::Syntax::parse(case.text.as_str());
            assert!(!syntax.has_errors(), "{name}: the text of a test does not parse:\n{}", case.text);
            let (found, ruled_out) = catalog.find(&case.text, None, &Cancel::new()).expect("nobody cancels");
            let of_it = |key: &&String| key.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'));
            let keys: Vec<_> = found.iter().map(|found| &found.hypothesis.key).filter(of_it).collect();
            assert!(keys.is_empty(), "{name}: {keys:?} although: {}\n{}", case.reason, case.text);
            let reasons: Vec<_> = ruled_out.iter().map(|ruling| ruling.reason.as_str()).collect();
            let said = reasons.iter().any(|reason| reason.contains(&case.ruled_out)) || case.ruled_out.is_empty();
            assert!(said, "{name}: `{}` is not among {reasons:?}", case.ruled_out);
        }
    }
}

const GEMM: &str = "#define TILE 16
__global__ void gemm(const float* a, const float* b, float* c, int n) {
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (n + TILE - 1) / TILE; t++) {
        int k0 = t * TILE;
        as[threadIdx.y][threadIdx.x] = row < n && k0 + threadIdx.x < n ? a[row * n + k0 + threadIdx.x] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = col < n && k0 + threadIdx.y < n ? b[(k0 + threadIdx.y) * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = sum;
}
void run(const float* a, const float* b, float* c, int n) {
    dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    gemm<<<grid, block>>>(a, b, c, n);
}
";

/// Applies the keys one after the other, taking the first draft of each.
fn after(catalog: &Catalog, text: &str, keys: &[&str]) -> String {
    keys.iter().fold(text.to_owned(), |text, key| match catalog.apply(&text, None, key) {
        Ok(mut drafts) => drafts.swap_remove(0).text,
        Err(error) => panic!("{error} in:\n{text}"),
    })
}

#[test]
fn hypotheses_compose_over_generations() {
    let catalog = Catalog::load();
    let keys = ["tile-size:gemm/TILE", "restrict:gemm", "coarsen:gemm/y", "launch-bounds:gemm", "coarsen:gemm/x"];
    let text = after(&catalog, GEMM, &keys);
    for expected in [
        "#define TILE 32",
        "float sum[4][4];",
        "sum[item_2][item] += as[(threadIdx.y + item * blockDim.y)][k] * bs[k][(threadIdx.x + item_2 * blockDim.x)];",
        "gemm<<<grid, dim3(block.x / 4, block.y / 4, block.z)>>>(a, b, c, n);",
    ] {
        assert!(text.contains(expected), "`{expected}` is not in:\n{text}");
    }
    let again: Vec<String> = catalog.suggest(&text, None).into_iter().map(|hypothesis| hypothesis.key).collect();
    assert!(!again.iter().any(|key| key.starts_with("coarsen:") || key.starts_with("restrict:")), "{again:?}");
}

#[test]
fn a_key_that_does_not_apply_says_why() {
    let catalog = Catalog::load();
    let text = GEMM.replace("gemm<<<grid, block>>>(a, b, c, n);", "");
    let error = catalog.apply(&text, None, "coarsen:gemm/y").expect_err("no launch").to_string();
    assert!(error.contains("coarsen:gemm/y") && error.contains("launched by this file alone"), "{error}");
    let error = catalog.apply(GEMM, None, "wave-reduction:gemm/as").expect_err("no reduction").to_string();
    assert!(error.contains("its pattern is not there"), "{error}");
}

#[test]
fn suggestions_are_few_and_best_first() {
    let suggested = Catalog::load().suggest(GEMM, Some("gemm"));
    assert!(suggested.len() <= 8 && suggested.len() >= 4, "{suggested:#?}");
    assert!(suggested.is_sorted_by(|a, b| a.gain.middle() >= b.gain.middle()), "{suggested:#?}");
    assert_eq!(Catalog::load().suggest(GEMM, Some("other")), Vec::new());
}

#[test]
fn any_text_can_be_looked_at() {
    let catalog = Catalog::load();
    for end in (0..GEMM.len()).step_by(31) {
        catalog.suggest(&GEMM[..end], None);
    }
    for text in
        ["", "\0\u{1}", "__global__ void k(", "__global__ void k() { for (;;) { __syncthreads(); }", "}}}{{{<<<>>>"]
    {
        assert_eq!(catalog.suggest(text, None).len(), 0, "{text}");
    }
}

#[test]
fn numbering_is_known_through_functions_macros_and_methods() {
    let kernel = |use_: &str| {
        format!(
            "__device__ int inner() {{ return threadIdx.y; }}
__device__ int outer() {{ return inner() + 1; }}
#define LANE (threadIdx.x % warpSize)
#define FIRST (LANE == 0)
__global__ void k(float* x) {{
    __shared__ float part[256];
    part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = part[255 - threadIdx.x] + {use_};
}}
void run(float* x) {{ k<<<1, 256>>>(x); }}
"
        )
    };
    let check = |text: &str, said: &str| {
        let ruled_out = only("coarsen").ruled_out(text);
        assert!(ruled_out.iter().any(|ruling| ruling.reason.contains(said)), "{said}: {ruled_out:?}");
    };
    assert_eq!(only("coarsen").ruled_out(&kernel("1")), Vec::new());
    check(&kernel("outer()"), "`inner` asks");
    check(&kernel("FIRST"), "the macro `FIRST`");
    check(&kernel("__shfl(1.0f, 0)"), "`__shfl`");
    let method =
        format!("struct T {{ __device__ int number() {{ return threadIdx.x; }} }};\n{}", kernel("T().number()"));
    check(&method, "a type of the file");
    // Words in comments and strings are none.
    assert_eq!(only("coarsen").ruled_out(&kernel("1 /* not __shfl */")), Vec::new());
}

#[test]
fn a_search_for_suggestions_can_be_stopped() {
    let cancel = Cancel::new();
    cancel.cancel();
    let stopped = Catalog::load().suggest_until(GEMM, None, &cancel);
    assert!(matches!(stopped, Err(StageError::Cancelled)), "{stopped:?}");
}

/// A tree of a large file takes megabytes, and an editor, a selector, a designer and writers ask for one at any time.
#[test]
fn a_catalog_and_its_clones_have_one_tree_at_a_time() {
    let catalog = Catalog::load();
    let turn = catalog.take_turn(&Cancel::new()).expect("nobody has it");
    let (sender, drafts) = channel();
    std::thread::scope(|scope| {
        let (of_a_file, cancel) = (catalog.clone().fed_by(None), Cancel::new());
        scope.spawn(move || {
            sender.send(of_a_file.apply(GEMM, Some("gemm"), "restrict:gemm").map(|drafts| drafts.len()))
        });
        assert_eq!(drafts.recv_timeout(Duration::from_millis(50)).err(), Some(RecvTimeoutError::Timeout));
        // Who waits can be stopped.
        cancel.cancel();
        assert!(matches!(catalog.clone().find(GEMM, None, &cancel), Err(StageError::Cancelled)));
        drop(turn);
        assert!(matches!(drafts.recv().expect("it ends"), Ok(1)));
    });
}

/// What is listed of a large file is cut kernel by kernel, and is what the whole list would begin with.
#[test]
fn the_best_of_each_kernel_are_those_of_all_that_is_found() {
    let catalog = Catalog::load();
    let two = format!("{GEMM}{}", GEMM.replace("gemm", "other").replace("#define TILE 16", ""));
    for kernel in ["gemm", "other"] {
        let of_it =
            |all: Vec<Hypothesis>| all.into_iter().filter(|one| one.kernel == kernel).take(8).collect::<Vec<_>>();
        assert_eq!(of_it(catalog.suggest(&two, None)), of_it(catalog.suggest_all(&two)));
        let alone = catalog.suggest_for(&two, &[kernel].into(), &Cancel::new()).expect("nobody cancels");
        assert_eq!(alone, catalog.suggest(&two, Some(kernel)));
    }
}

/// A bound that was declared for launches with another constant stays.
#[test]
fn the_bounds_of_other_kernels_stay() {
    let text = "#define BLOCK 256
#define OTHER 256
__global__ void __launch_bounds__(256) other(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 3.0f;
}
__global__ void __launch_bounds__(256) scale(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
}
void run(float* x, int n) { scale<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, n); }
void more(float* x, int n) { other<<<(n + OTHER - 1) / OTHER, OTHER>>>(x, n); }
";
    let drafts = only("block-size").apply(text, None, "block-size:scale/BLOCK").expect("drafts");
    assert!(drafts[0].text.contains("__launch_bounds__(256) other"), "{}", drafts[0].text);
    assert!(drafts[0].text.contains("__launch_bounds__(128) scale"), "{}", drafts[0].text);
}

/// The designer's choice is about the kernel that the user named, and so is the selector's.
#[test]
fn a_named_kernel_is_looked_at_alone() {
    let two = format!("{GEMM}{}", GEMM.replace("gemm", "other").replace("#define TILE 16", ""));
    let kernels = |wanted| {
        let suggested = Catalog::load().suggest(&two, wanted);
        suggested.into_iter().map(|hypothesis| hypothesis.kernel).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(kernels(Some("other")).into_iter().collect::<Vec<_>>(), ["other"]);
    assert_eq!(kernels(None).len(), 2);
}
