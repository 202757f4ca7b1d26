//! What is inferred from ordinary signatures.

use std::path::Path;

use hip_syntax::Syntax;

use super::*;
use crate::benchmark::{Benchmark, Entry, Fill, Role};

fn parsed(code: &str, kernel: Option<&str>) -> Benchmark {
    let text = infer(&Syntax::parse(code), kernel).unwrap();
    Benchmark::parse(Path::new("/w/k.bench.toml"), &text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// `name kind type`, for each argument.
fn arguments(benchmark: &Benchmark) -> Vec<String> {
    let kind = |role: &Role| match role {
        Role::Scalar(value) => format!("scalar({})", value.text),
        Role::Buffer { kind, count, fill } => {
            assert!(!matches!(fill, Fill::Constant(_)));
            format!("{kind:?}[{}]", count.text).to_lowercase()
        }
    };
    let line = |argument: &super::super::Argument| {
        format!("{} {} {}", argument.name, kind(&argument.role), argument.element.cpp)
    };
    benchmark.arguments.iter().map(line).collect()
}

fn entry(benchmark: &Benchmark) -> String {
    let list = |list: &[crate::benchmark::Expression]| {
        list.iter().map(|expression| expression.text.clone()).collect::<Vec<_>>().join(" | ")
    };
    match benchmark.entry.as_ref().unwrap() {
        Entry::Function(name) => format!("{}()", name.text),
        Entry::Kernel { kernel, grid, block, shared } => {
            let shared = shared.as_ref().map_or(String::new(), |shared| format!(", {}", shared.text));
            format!("{}<<<{}, {}{shared}>>>", kernel.text, list(grid), list(block))
        }
    }
}

#[test]
fn signatures_become_benchmarks() {
    // (code, entry, arguments)
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "__global__ void add(const float* a, const float* b, float* c, int n) {
                int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }",
            "add<<<(n + 256 - 1) / 256, 256>>>",
            &["a input[n] float", "b input[n] float", "c output[n] float", "n scalar(n) int"],
        ),
        (
            "#define BLOCK 128
             __global__ void scale(double *x, double f, size_t count) { size_t i = blockIdx.x * BLOCK + threadIdx.x;
                if (i < count) x[i] *= f; }
             int main() { int N = 1 << 20; double* d; dim3 threads(BLOCK); int blocks = (N + BLOCK - 1) / BLOCK;
                scale<<<blocks, threads>>>(d, 2.0, N); }",
            "scale<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>",
            &["x inout[count] double", "f scalar(1) double", "count scalar(count) size_t"],
        ),
        (
            "__global__ void hist(const unsigned char* in, unsigned* bins, int n) {
                for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[in[i]], 1u); }
             void histogram(const unsigned char* in, unsigned* bins, int n) {
                hipMemset(bins, 0, 1024); hist<<<1, 64>>>(in, bins, n); }",
            "histogram()",
            &["in input[n] unsigned char", "bins output[n] unsigned", "n scalar(n) int"],
        ),
        (
            "namespace ns { __global__ void t(const float4* __restrict__ in, float4 *__restrict__ out, int width, int height) {
                int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
                if (x < width && y < height) { float4* row = out + y * width; row[x] = in[y * width + x]; } } }",
            "ns::t<<<(width + 16 - 1) / 16 | (height + 16 - 1) / 16, 16 | 16>>>",
            &[
                "in input[width * height] float4",
                "out output[width * height] float4",
                "width scalar(width) int",
                "height scalar(height) int",
            ],
        ),
        (
            "template <typename T, int TILE> __global__ void k(const T* a, T* b, int size) {
                int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < size * size) b[i] = a[i]; }",
            "k<float, 16><<<(size * size + 256 - 1) / 256, 256>>>",
            &["a input[size * size] float", "b output[size * size] float", "size scalar(size) int"],
        ),
        (
            "__global__ void __launch_bounds__(64) r(const int* a, int* b, int n, int radius) { extern __shared__ int s[];
                int i = blockIdx.x * blockDim.x + threadIdx.x; s[threadIdx.x] = a[i]; int old = b[i]; b[i] = s[0] + old; }",
            "r<<<(n + 64 - 1) / 64, 64, 16384>>>",
            &["a input[n] int", "b inout[n] int", "n scalar(n) int", "radius scalar(1) int"],
        ),
        (
            "#define W 1024
             __global__ void square(float* out, float* in, const int side) {
                int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
                out[y * side + x] = in[x * side + y]; }
             int main() { float *a, *b; square<<<dim3(W / 4, W / 4), dim3(4, 4)>>>(a, b, W); }",
            "square<<<side / 4 | side / 4, 4 | 4>>>",
            &["out output[side * side] float", "in input[side * side] float", "side scalar(side) int"],
        ),
        (
            "__global__ void fixed(float* x) { x[threadIdx.x] = 1; }",
            "fixed<<<(n + 256 - 1) / 256, 256>>>",
            &["x output[n] float"],
        ),
    ];
    for (code, expected_entry, expected) in cases {
        let benchmark = parsed(code, None);
        assert_eq!(entry(&benchmark), *expected_entry, "{code}");
        assert_eq!(arguments(&benchmark), *expected, "{code}");
        let held_out = benchmark.shapes.iter().filter(|shape| shape.held_out).count();
        assert_eq!((benchmark.shapes.len(), held_out), (3, 1));
    }
}

#[test]
fn a_code_without_bounds_gets_round_sizes() {
    let benchmark = parsed("__global__ void f(int* x, int n) { x[blockIdx.x * blockDim.x + threadIdx.x] = n; }", None);
    assert!(benchmark.shapes.iter().all(|shape| shape.values[0] % 64 == 0), "{:?}", benchmark.shapes);
}

#[test]
fn what_cannot_be_inferred_is_said() {
    for (code, kernel, part) in [
        ("", None, "no kernel"),
        ("int main() {}", None, "no kernel"),
        ("__global__ void a(int* x) { x[0] = 1; }", Some("b"), "there is no kernel b in the file; there is: a"),
        ("struct S { int n; }; __global__ void a(S s, int* x) { x[0] = s.n; }", None, "`s` of a has the type `S`"),
        (
            "__global__ void a(const int* x, int n) { if (x[n]) __builtin_trap(); }",
            None,
            "no argument that it could write",
        ),
        ("__global__ void a(float** rows, int n) { rows[0][0] = n; }", None, "cannot fill"),
    ] {
        let error = infer(&Syntax::parse(code), kernel).unwrap_err();
        assert!(matches!(error, LabError::Usage(_)));
        assert!(error.to_string().contains(part), "{error}");
    }
}
