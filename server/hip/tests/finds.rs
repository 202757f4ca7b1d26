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
    let flags: Vec<_> =
        syntax.kernels().iter().map(|k| (k.is_specialisation, syntax.waiting(k).synchronises)).collect();
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
fn clangs_unroll_pragmas_name_no_factor() {
    for (pragma, disabled) in [
        ("clang loop unroll(disable)", true),
        ("clang loop unroll(full)", false),
        ("nounroll", true),
        ("unroll", false),
        ("unroll 1", true),
    ] {
        let text = format!("__global__ void k(int n) {{\n#pragma {pragma}\n for (int i = 0; i < n; ++i) n += i;\n}}");
        let syntax = Syntax::parse(text.as_str());
        let unroll = syntax.kernel("k").unwrap().loops[0].unroll.clone().unwrap();
        assert_eq!(unroll.disabled, disabled, "{pragma}");
        assert_eq!(unroll.factor.is_some(), pragma == "unroll 1", "{pragma}");
    }
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

/// Names and lines of the kernels of `text`.
fn kernels(text: &str) -> Vec<(String, u32)> {
    Syntax::parse(text).kernels().iter().map(|kernel| (kernel.qualified_name.clone(), kernel.line)).collect()
}

#[test]
fn kernels_behind_macros_attributes_and_conditions() {
    for (text, name, line) in [
        ("__launch_bounds__(64) __global__ void k() {}", "k", 1),
        ("__global__ __launch_bounds__(64, 2) static inline void k() {}", "k", 1),
        ("void __global__ k(int a) {}", "k", 1),
        ("__global__ void\n#if A\n__launch_bounds__(64)\n#endif\nk(int a) {}", "k", 5),
        ("#if A\n__global__ void k(int a,\n#else\n__global__ void k(\n#endif\nint b) { if (b) {} }", "k", 2),
        ("#define ATTR __attribute__((amdgpu_waves_per_eu(2)))\n__global__ void ATTR k(int a) {}", "k", 2),
        ("__global__ __attribute__((amdgpu_flat_work_group_size(1, 256))) void k(int a) {}", "k", 1),
        ("__global__ C10_LAUNCH_BOUNDS_1(256) void k(int a) {}", "k", 1),
        ("#define KERNEL __global__ static\nKERNEL void k(int a) {}", "k", 2),
        ("#define KERNEL(name, ...) template <__VA_ARGS__> __global__ void name(int a)\nKERNEL(k, int N) { }", "k", 2),
        ("__global__ void GLUE(k, 2)(int a) {}", "GLUE(k, 2)", 1),
        (
            "DECLARE_THINGS(a, b)\ntemplate <typename T, std::enable_if_t<(sizeof(T) > 4), int> = 0>\n__global__ void k(T a) {}",
            "k",
            3,
        ),
        ("template <template <typename> class C, typename... A> __global__ void k(C<A>... a) {}", "k", 1),
        ("template <> __global__ void k<float, 3>(float* a) {}", "k", 1),
        ("extern \"C\" {\n__global__ void k(int a) {}\n}", "k", 2),
        ("namespace a::b { namespace { __global__ void k() {} } }", "a::b::k", 1),
        ("struct S { template <class T> __global__ static void k(T* a) {} };", "S::k", 1),
        ("BEGIN_NAMESPACE\nnamespace a {\n__global__ void k(int a) {} }", "a::k", 3),
        ("std::function<void(int)> f = [](int) {};\n__global__ void k(int a) {}", "k", 2),
        ("int a = { 1 }; int b[] = {1, 2}; enum class E : int { A, B };\n__global__ void k(int a) {}", "k", 2),
        ("S::S(int a) : a(a), b{a} {}\nbool operator()(int) { return 1; }\n__global__ void k(int a) {}", "k", 3),
        ("auto f() -> decltype(g(1)) { return g(1); }\n__global__ auto k(int a) -> void {}", "k", 2),
        (
            "const char* c = R\"(__global__ void no() {})\"; // __global__ void no() {}\n__global__ void k(int a) {}",
            "k",
            2,
        ),
        ("void broken( {\n__global__ void k(int a) {}", "k", 2),
        ("void broken() { if (x) {\n}\n__global__ void k(int a) { a = 1; }", "k", 3),
        ("}}} )\n__global__ void k(int a) {}", "k", 2),
    ] {
        assert_eq!(kernels(text), [(name.to_owned(), line)], "{text}");
    }
}

#[test]
fn declarations_are_no_kernels() {
    for text in [
        "__global__ void k(int a);",
        "template __global__ void k<int>(int a);",
        "extern template __global__ void k<int>(int a);",
        "struct S { friend __global__ void k(S s); };",
        "// __global__ void k() {}",
        "#define K(name) __global__ void name() {}",
        "__device__ void k(int a) {}",
        "__global__",
        "__global__ {",
        "",
    ] {
        assert_eq!(kernels(text), [], "{text}");
    }
}

/// Static bytes of the one shared variable that `declaration` declares after `before`.
fn shared_bytes(before: &str, declaration: &str) -> Option<u64> {
    let text = format!("{before}\n__global__ void k() {{ {declaration} }}");
    Syntax::parse(text.as_str()).kernel("k").unwrap().shared[0].static_bytes
}

#[test]
fn sizes_of_shared_memory() {
    for (before, declaration, bytes) in [
        ("", "__shared__ float a[16];", Some(64)),
        ("", "__shared__ double a[4][4 + 1];", Some(160)),
        ("", "__shared__ unsigned char a;", Some(1)),
        ("", "__shared__ alignas(16) float4 a[2];", Some(32)),
        ("", "constexpr int N = 1 << 4; __shared__ half a[N * 2];", Some(64)),
        ("#define W 64\n#define N (W / 2)\n", "__shared__ int64_t a[N];", Some(256)),
        ("struct P { float x, y; char c; };", "__shared__ P a[2];", Some(24)),
        ("using real = double; typedef real number;", "__shared__ number a[3];", Some(24)),
        ("", "__shared__ float a[sizeof(float2) * 2];", Some(64)),
        ("", "__shared__ float a[UNKNOWN];", None),
        ("", "__shared__ Unknown a[2];", None),
        ("namespace n { constexpr size_t N{8}; }", "__shared__ float a[n::N];", Some(32)),
        ("", "extern __shared__ float a[];", Some(0)),
        ("", "HIP_DYNAMIC_SHARED(float, a)", Some(0)),
        ("", "__shared__ float a[N ? 2 : 1];", None),
        ("constexpr bool BIG = true;", "__shared__ float a[BIG ? 2 : 1];", Some(8)),
        ("", "__shared__ float a[std::max(3, 5)];", Some(20)),
        ("", "__shared__ float a[static_cast<int>(6)];", Some(24)),
        ("", "__shared__ float a[1 / 0];", None),
    ] {
        assert_eq!(shared_bytes(before, declaration), bytes, "{before} {declaration}");
    }
}

#[test]
fn template_sizes_need_one_instantiation() {
    let kernel = "template <int N> __global__ void k() { __shared__ float a[N]; }\n";
    for (launches, bytes) in [
        ("void f() { k<8><<<1, 1>>>(); }", Some(32)),
        ("void f() { k<8><<<1, 1>>>(); k<16><<<1, 1>>>(); }", None),
        ("template __global__ void k<4>();", Some(16)),
        ("", None),
    ] {
        let text = format!("{kernel}{launches}");
        assert_eq!(Syntax::parse(text.as_str()).kernels()[0].shared[0].static_bytes, bytes, "{launches}");
    }
}

#[test]
fn trip_counts() {
    for (header, turns) in [
        ("for (int i = 0; i < 10; ++i)", Some(10)),
        ("for (int i = 10; i > 0; i -= 3)", Some(4)),
        ("for (int s = 32; s > 0; s >>= 1)", Some(6)),
        ("for (int s = 32; s > 0; s /= 2)", Some(6)),
        ("for (unsigned s = 1; s < 64; s *= 2)", Some(6)),
        ("for (int i = 0; i <= K; i = i + 2)", Some(5)),
        ("for (int i = 0; i < n; i++)", None),
        ("for (int i = 0; i < 10; i *= 1)", None),
        ("for (auto x : list)", None),
        ("for (;;)", None),
        ("while (n)", None),
    ] {
        let text = format!("constexpr int K = 8; __global__ void k(int n) {{ {header} {{ n = 1; }} }}");
        assert_eq!(Syntax::parse(text.as_str()).kernels()[0].loops[0].trip_count, turns, "{header}");
    }
}
