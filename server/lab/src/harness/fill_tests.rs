//! What buffers hold before a call, for types and fills: kernels look, and the reference says what they must see.

use std::path::Path;

use super::tests::{sampling, with_bench};
use crate::benchmark::Benchmark;
use crate::{Cancel, Failure, LabError, Source};

/// Runs a kernel that stores `look` (C++ over `x`, `i` and `n`) in `y[i]`; the reference stores `expected`.
fn run(cpp: &str, fill: &str, look: &str, expected: &str) -> Result<(), LabError> {
    let code = format!(
        "#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n\
         __global__ void look(const {cpp}* x, {cpp}* y, int n) {{\n\
         int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) {{ {look}; }}\n}}\n"
    );
    let file = format!(
        "entry = {{ kernel = \"look\", grid = \"(n + 63) / 64\", block = 64 }}\n\
         [[argument]]\nname = \"x\"\nkind = \"input\"\ntype = \"{cpp}\"\ncount = \"n\"\nfill = {fill}\n\
         [[argument]]\nname = \"y\"\nkind = \"output\"\ntype = \"{cpp}\"\ncount = \"n\"\n\
         [[argument]]\nname = \"n\"\nkind = \"scalar\"\ntype = \"int\"\nvalue = \"n\"\n\
         [check]\nreference = \"for (int i = 0; i < n; i++) {{ {expected}; }}\"\n\
         [[shape]]\nn = 1000\n[[shape]]\nn = 1\n"
    );
    let benchmark = Benchmark::parse(Path::new("/tmp/fill.bench.toml"), &file).unwrap();
    let source = Source::new("/tmp/fill.hip", code);
    with_bench(&source, &benchmark, |bench| bench.time(&source, &sampling(20), &Cancel::new())).map(drop)
}

#[test]
fn buffers_hold_what_the_file_says() {
    for (cpp, fill, look, expected) in [
        ("float", "\"iota\"", "y[i] = x[i]", "y[i] = i"),
        ("double", "{ kind = \"constant\", value = \"n + 0.5\" }", "y[i] = x[i]", "y[i] = n + 0.5"),
        ("long long", "{ kind = \"expression\", value = \"3 * i - n\" }", "y[i] = x[i]", "y[i] = 3 * i - n"),
        ("unsigned char", "{ kind = \"integers\", low = 200, high = 255 }", "y[i] = x[i] >= 200", "y[i] = 1"),
        ("int", "\"permutation\"", "y[x[i]] = i >= 0", "y[i] = 1"),
        (
            "__half",
            "{ kind = \"uniform\", low = 2, high = 3 }",
            "y[i] = (float)x[i] >= 2 && (float)x[i] <= 3",
            "y[i] = 1.0f",
        ),
        ("float4", "\"ones\"", "y[i] = x[i]", "y[i].x = y[i].y = y[i].z = y[i].w = 1"),
        ("float", "{ kind = \"normal\", mean = 10, deviation = 2 }", "y[i] = x[i] > 3 && x[i] < 17", "y[i] = 1"),
        ("bool", "{ kind = \"integers\", low = 0, high = 1 }", "y[i] = x[i] == true || x[i] == false", "y[i] = true"),
        ("unsigned short", "\"zeros\"", "y[i] = x[i] + 7", "y[i] = 7"),
    ] {
        run(cpp, fill, look, expected).unwrap_or_else(|error| panic!("{cpp} {fill}: {error}"));
    }
}

#[test]
fn one_wrong_lane_or_bit_is_seen_in_every_type() {
    for (cpp, fill, look, expected) in [
        ("float4", "\"ones\"", "y[i] = x[i]; if (i == n - 1) y[i].w = 1.001f", "y[i].x = y[i].y = y[i].z = y[i].w = 1"),
        ("long long", "\"ones\"", "y[i] = (1ll << 62) + 1", "y[i] = (1ll << 62) + 2"),
        ("__half", "\"ones\"", "y[i] = 1.05f", "y[i] = 1.0f"),
        ("bool", "\"ones\"", "y[i] = x[i] && i != n / 2", "y[i] = true"),
        ("double", "\"ones\"", "y[i] = x[i] + 1e-8", "y[i] = 1"),
        ("float", "\"ones\"", "y[i] = i == n - 1 ? INFINITY : 1", "y[i] = 1"),
    ] {
        let answer = run(cpp, fill, look, expected);
        assert!(matches!(answer, Err(LabError::Code(Failure::Wrong { .. }))), "{cpp}: {answer:?}");
    }
}
