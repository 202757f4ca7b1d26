//! Which kernels may run as a plain loop over work-items.
#![allow(clippy::unwrap_used)]

use hip_syntax::Syntax;

/// Whether the one kernel of `text`, whose body is `body`, may synchronise.
fn synchronises(before: &str, body: &str) -> bool {
    let text = format!("{before}\n__global__ void kernel(float* a, int* flag, int n) {{ {body} }}");
    let syntax = Syntax::parse(text.as_str());
    syntax.waiting(syntax.kernel("kernel").unwrap()).synchronises
}

#[test]
fn independent_kernels() {
    for (before, body) in [
        ("", "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = sqrtf(fabsf(a[i])) + __expf(2.0f);"),
        ("", "for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&a[i], 1.0f);"),
        ("", "a[0] = static_cast<float>(n) + (float)(n) + float(n) + make_float4(1, 2, 3, 4).x; printf(\"%d\", n);"),
        ("", "float4 v(a[0]); dim3 d(1, 2); a[0] = std::max(a[0], __int_as_float(n)); __threadfence();"),
        (
            "__device__ float f(float x) { return x + 1; } template <class T> __device__ T g(T x) { return f(x) + T(1); }",
            "a[0] = g<float>(a[0]);",
        ),
        ("#define SQ(x) ((x) * (x))\n", "a[0] = SQ(a[1]);"),
        (
            "struct Add { __device__ float operator()(float x) const { return x; } void host() { std::puts(\"\"); } };",
            "Add add; a[0] = add.operator()(1) + Add()(2);",
        ),
        ("", "auto f = [&](int i) { return a[i]; }; a[0] = f(1);"),
        ("", "\n#pragma clang loop unroll(disable)\n for (int i = 0; i < n; ++i) a[i] = i;"),
        (
            "__device__ void f(float *a) {\n#pragma clang loop unroll_count(4)\n for (int i = 0; i < 8; ++i) a[i] = i; }",
            "\n#pragma clang fp contract(fast)\n f(a);",
        ),
        ("", "while (n > 0) { a[n] = 1; n /= 2; }"),
        ("", "(void)n; for (int i = 0; i < n; i++) { if (i == 3) break; if (i > LIMIT) continue; a[i] = SCALE; }"),
        ("", "if (n > 0) return; switch (n) { case 1: break; default: a[0] = 1; } a[1] = n > 1 ? n : n;"),
        ("void host() { hipDeviceSynchronize(); }", "a[0] = 1;"),
        ("", "__shared__ float s[64]; s[threadIdx.x] = a[0]; a[1] = s[threadIdx.x];"),
    ] {
        assert!(!synchronises(before, body), "{before} | {body}");
    }
}

#[test]
fn kernels_that_exchange_or_wait_or_cannot_be_told() {
    for (before, body) in [
        ("", "__syncthreads();"),
        ("", "a[0] = __shfl_down(a[0], 1);"),
        ("", "n = __popcll(__ballot(n));"),
        ("", "if (__any(n)) a[0] = 1;"),
        ("", "__builtin_amdgcn_s_barrier();"),
        ("", "asm volatile(\"s_barrier\");"),
        ("", "auto v = __builtin_amdgcn_mfma_f32_4x4x1f32(a[0], a[1], x, 0, 0, 0);"),
        ("__device__ void f() { __syncthreads(); } template <int N> __device__ void g() { f(); }", "g<3>();"),
        ("#define BARRIER() __syncthreads()\n", "BARRIER();"),
        ("#define BARRIER __syncthreads()\n", "BARRIER;"),
        ("__device__ void f(int) {} __device__ void f(float) { __syncwarp(); }", "f(1);"),
        ("namespace cg = cooperative_groups;", "cg::this_thread_block().sync();"),
        ("", "unknown(a);"),
        ("", "a[0] = 1; BLOCK_SYNC; a[1] = 2;"),
        ("", "if (n > 0) BLOCK_SYNC; else BLOCK_SYNC;"),
        ("", "for (int i = 0; i < n; i++) BLOCK_SYNC;"),
        ("", "\n#pragma push_macro(\"sqrtf\")\n a[0] = sqrtf(a[1]);"),
        ("", "\n#pragma clang loop unroll(disable)\n for (int i = 0; i < n; ++i) unknown(a);"),
        ("__device__ void elsewhere(float*);", "elsewhere(a);"),
        ("struct S { __device__ void elsewhere(); };", "S s; s.elsewhere();"),
        ("__device__ void (*pointer)(float*);", "pointer(a);"),
        ("", "for (; atomicAdd(flag, 0) == 0;) {}"),
        ("", "a[0] = lib::reduce<float>(a[0]);"),
        ("", "Reducer reduce(a); reduce.run();"),
        ("struct S { __device__ void wait() { __syncthreads(); } };", "S s; s.wait();"),
        ("__device__ void (*fs[2])(int);", "fs[n](1);"),
        ("", "while (atomicCAS(flag, 0, 1) != 0) {}"),
        ("__device__ bool lock(int* f) { return atomicCAS(f, 0, 1) == 0; }", "while (!lock(flag)) {}"),
        ("", "volatile int* v = flag; while (*v == 0) {}"),
        ("", "do { n = atomicAdd(flag, 0); } while (n == 0);"),
        ("", "for (;;) { if (atomicAdd(flag, 0)) break; }"),
    ] {
        assert!(synchronises(before, body), "{before} | {body}");
    }
}

#[test]
fn functors_and_lambdas_as_arguments_cannot_be_told() {
    let text = "template <class F> __global__ void kernel(F f, float* a) { a[0] = f(a[1]); }";
    let syntax = Syntax::parse(text);
    assert!(syntax.waiting(syntax.kernel("kernel").unwrap()).synchronises);
}
