//! What is found in a text: kernels, parameters, shared memory, loops, launches, constants.
#![allow(clippy::unwrap_used)]

use hip_syntax::{ConstantKind, LaunchKind, LoopKind, Syntax};

const TILED: &str = r#"#include <hip/hip_runtime.h>
#define BLOCK 16
constexpr int TILE = BLOCK * 2;
static const int UNUSED_HERE = 3;
namespace demo {
template <typename T, int PAD = 1>
__global__ void __launch_bounds__(BLOCK * BLOCK, 2)
tiled(const T* __restrict__ a, float *b, int n)
{
    __shared__ float tile[TILE][TILE + PAD];
    extern __shared__ int dynamic[];
    #pragma unroll 4
    for (int i = 0; i < TILE; i += 2) {
        for (int j = 0; j < n; ++j) { tile[i][j] = a[i]; }
    }
    while (n > 0) --n;
    __syncthreads();
    b[threadIdx.x] = tile[0][0];
}
}
template <> __global__ void special<int>(int* x) { x[threadIdx.x] = 1; }
extern "C" __global__ void plain(float* p) { p[blockIdx.x] = sinf(1.0f); }
__global__ void declared(int*);
int main() {
    demo::tiled<float, 1><<<dim3(4, 4), dim3(BLOCK, BLOCK), 64, 0>>>(nullptr, nullptr, 8);
    hipLaunchKernelGGL(HIP_KERNEL_NAME(special<int>), 1, 64, 0, 0, nullptr);
    auto f = [&] { plain<<<1, 2>>>(nullptr); };
}
#define RUN(k, ...) k<<<1, 1>>>(__VA_ARGS__)
"#;

#[test]
fn kernels_of_every_form() {
    let syntax = Syntax::parse(TILED);
    let found: Vec<_> = syntax.kernels().iter().map(|k| (k.qualified_name.as_str(), k.line, k.end_line)).collect();
    assert_eq!(found, [("demo::tiled", 8, 19), ("special", 21, 21), ("plain", 22, 22)]);
    let flags: Vec<_> = syntax.kernels().iter().map(|k| (k.is_specialisation, k.synchronises)).collect();
    assert_eq!(flags, [(false, true), (true, false), (false, false)]);
}

#[test]
fn details_of_a_kernel() {
    let syntax = Syntax::parse(TILED);
    let kernel = syntax.kernel("tiled").unwrap();
    assert!(syntax.text()[kernel.range.clone()].starts_with("template <typename T"));
    let params: Vec<_> =
        kernel.params.iter().map(|p| (p.ty.as_str(), p.name.as_str(), p.is_pointer, p.is_const, p.restrict)).collect();
    assert_eq!(
        params,
        [
            ("const T * __restrict__", "a", true, true, true),
            ("float *", "b", true, false, false),
            ("int", "n", false, false, false)
        ]
    );
    assert_eq!(kernel.launch_bounds.as_ref().unwrap().values, [Some(256), Some(2)]);
    let template: Vec<_> = kernel.template_params.iter().map(|p| (p.kind.as_str(), p.name.as_str())).collect();
    assert_eq!(template, [("typename", "T"), ("int", "PAD")]);
    let shared: Vec<_> = kernel.shared.iter().map(|s| (s.name.as_str(), s.static_bytes, s.dynamic, s.line)).collect();
    assert_eq!(shared, [("tile", Some(32 * 33 * 4), false, 10), ("dynamic", Some(0), true, 11)]);
    let loops: Vec<_> = kernel.loops.iter().map(|l| (l.kind, l.trip_count, l.depth, l.line)).collect();
    assert_eq!(loops, [(LoopKind::For, Some(16), 0, 13), (LoopKind::For, None, 1, 14), (LoopKind::While, None, 0, 16)]);
    assert_eq!(kernel.loops[0].unroll.as_ref().unwrap().value, Some(4));
}

#[test]
fn launches_of_every_form() {
    let syntax = Syntax::parse(TILED);
    let text = |range: &Option<std::ops::Range<usize>>| range.clone().map_or("", |r| &syntax.text()[r]);
    let found: Vec<_> = syntax
        .launches()
        .iter()
        .map(|l| (l.kind, l.kernel.as_str(), text(&l.grid), text(&l.block), l.in_macro))
        .collect();
    assert_eq!(
        found,
        [
            (LaunchKind::Chevron, "tiled", "dim3(4, 4)", "dim3(BLOCK, BLOCK)", false),
            (LaunchKind::Ggl, "special", "1", "64", false),
            (LaunchKind::Chevron, "plain", "1", "2", false),
            (LaunchKind::Chevron, "k", "1", "1", true),
        ]
    );
    assert_eq!(syntax.launches()[0].template_args.len(), 2);
    assert_eq!(syntax.launches()[0].args.len(), 3);
}

#[test]
fn constants_with_their_uses() {
    let syntax = Syntax::parse(TILED);
    let found: Vec<_> = syntax.constants().iter().map(|c| (c.kind, c.name.as_str(), c.value, c.uses.len())).collect();
    assert_eq!(
        found,
        [
            (ConstantKind::Define, "BLOCK", 16, 5),
            (ConstantKind::Variable, "TILE", 32, 3),
            (ConstantKind::Variable, "UNUSED_HERE", 3, 0),
            (ConstantKind::TemplateDefault, "PAD", 1, 0),
            (ConstantKind::TemplateArgument, "PAD", 1, 1),
        ]
    );
}
