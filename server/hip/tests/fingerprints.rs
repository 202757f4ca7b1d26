//! What changes a kernel's fingerprint and what must not.
#![allow(clippy::unwrap_used)]

use hip_syntax::Syntax;

const CODE: &str = r#"
#include <hip/hip_runtime.h>
#ifndef TILE
#define TILE 16
#endif
#define SQUARE(x) ((x) * (x))
constexpr int STEPS = 4, OTHER_STEPS = 5;
typedef float real;
struct Pair { real a; real b; };
__device__ Pair operator+(Pair x, Pair y) { return Pair{x.a + y.a, x.b + y.b}; }
__constant__ float weights[8];
enum Mode { FAST, EXACT = 7 };
__device__ float scale(float x) { return x * 2.0f; }
template <int N> __device__ int deep() { return N + STEPS; }
template <> __device__ int deep<3>() { return 9; }
__device__ float helper(float x) { return scale(x) + deep<3>(); }
__device__ float unrelated(float x) { return x - 1.0f; }
#define UNUSED 3
__global__ void kernel(Pair* p, float* out) {
    // A comment.
    __shared__ float s[TILE];
    p[0] = p[0] + p[1];
    out[threadIdx.x] = helper(SQUARE(s[0])) + weights[EXACT];
}
__global__ void other(float* out) { out[0] = unrelated(1); }
int main() { kernel<<<1, 2>>>(nullptr, nullptr); }
"#;

fn fingerprint(text: &str) -> String {
    Syntax::parse(text).kernel("kernel").unwrap().fingerprint.to_string()
}

/// Replaces `from`, which must be there, and says whether the fingerprint changed.
fn changes(from: &str, to: &str) -> bool {
    assert!(CODE.contains(from), "{from}");
    fingerprint(CODE) != fingerprint(&CODE.replacen(from, to, 1))
}

#[test]
fn what_the_kernel_uses_counts() {
    for (from, to) in [
        ("p[0] + p[1]", "p[1] + p[0]"),
        ("TILE 16", "TILE 32"),
        ("STEPS = 4", "STEPS = 8"),
        ("((x) * (x))", "((x) + (x))"),
        ("typedef float real", "typedef double real"),
        ("real b; };", "real b; real c; };"),
        ("x.a + y.a", "x.a - y.a"),
        ("weights[8]", "weights[9]"),
        ("EXACT = 7", "EXACT = 6"),
        ("x * 2.0f", "x * 3.0f"),
        ("return N + STEPS", "return N - STEPS"),
        ("return 9", "return 10"),
        ("scale(x) + deep", "scale(x) - deep"),
        ("__global__ void kernel", "__global__ __launch_bounds__(64) void kernel"),
        ("#ifndef TILE", "#ifdef TILE"),
    ] {
        assert!(changes(from, to), "{from} -> {to}");
    }
}

#[test]
fn formatting_and_strangers_do_not_count() {
    for (from, to) in [
        ("// A comment.", ""),
        ("    __shared__ float s[TILE];", "__shared__\n\n\tfloat s [ TILE ] ; /* new */"),
        ("x - 1.0f", "x - 2.0f"),
        ("UNUSED 3", "UNUSED 4"),
        ("out[0] = unrelated(1)", "out[1] = unrelated(2)"),
        ("<<<1, 2>>>", "<<<3, 4>>>"),
        ("#include <hip/hip_runtime.h>", "#include <hip/hip_runtime.h>\n#include <cstdio>\nint more;"),
        ("\n__global__ void other", "\n\n\n__global__ void other"),
    ] {
        assert!(!changes(from, to), "{from} -> {to}");
    }
}

#[test]
fn two_kernels_with_one_body_differ_by_name_only_once() {
    let text = "__global__ void kernel(int* a) { a[0] = 1; }";
    assert_eq!(fingerprint(text), fingerprint(&text.replace(" = ", "=")));
    assert_ne!(fingerprint(text), fingerprint(&text.replace("= 1", "= 1 + 1")));
}

#[test]
fn the_fingerprint_of_a_whole_text_is_that_of_its_code() {
    let of = |text: &str| Syntax::without_tree(text).fingerprint();
    let text = "#define N 4\nint main() { return N; }\n";
    assert_eq!(of(text), of("// a remark\n#define N  4 // four\n\nint main()\n{ return N; }\n"));
    for other in [
        "#define N 5\nint main() { return N; }\n",
        "#define N 4\nint main() { return M; }\n",
        "#undef N 4\nint main() { return N; }\n",
        "int main() { return N; }\n#define N 4\n",
        "#define N 4\nint main() { returnN; }\n",
    ] {
        assert_ne!(of(text), of(other), "{other}");
    }
}
