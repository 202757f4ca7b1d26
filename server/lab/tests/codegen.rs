//! Resource figures from real code generation: needs clang, the device libraries and the HIP headers, and no GPU.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use lab::codegen::{Analysis, Codegen, KernelResources, Limit, Places};
use lab::toolchain::CompileOptions;
use lab::{Cancel, Failure, LabError, Source};

const KERNELS: &str = r#"#include <hip/hip_runtime.h>
namespace mine { namespace {
template <typename T, int N>
__global__ void
tiled(const T* a, T* b)
{
  __shared__ T tile[N][N + 1];
  tile[threadIdx.y][threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  b[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
} }
template <typename T> __global__ void never(T* x) { x[0] = 1; }
__global__ __launch_bounds__(256) void scratch(float* x, int n) {
  float local[64];
  for (int k = 0; k < 64; k++) local[k] = x[threadIdx.x * k];
  x[threadIdx.x] = local[n & 63];
}
__global__ __launch_bounds__(1024) void lds_bound(float* x) {
  __shared__ float all[10000];
  all[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = all[1023 - threadIdx.x];
}
typedef float f32x16 __attribute__((ext_vector_type(16)));
__global__ __launch_bounds__(256, 1) void matrix(const float* a, const float* b, float* c) {
  f32x16 sums[8];
  for (int i = 0; i < 8; i++) for (int j = 0; j < 16; j++) sums[i][j] = c[i * 16 + j + threadIdx.x];
  for (int k = 0; k < 100; k++)
    for (int i = 0; i < 8; i++) sums[i] = __builtin_amdgcn_mfma_f32_32x32x2f32(a[k + threadIdx.x], b[k * i], sums[i], 0, 0, 0);
  for (int i = 0; i < 8; i++) for (int j = 0; j < 16; j++) c[i * 16 + j + threadIdx.x] = sums[i][j];
}
int main() {
  float* p = nullptr;
  mine::tiled<float, 16><<<1, dim3(16, 16)>>>(p, p);
  mine::tiled<double, 32><<<1, dim3(32, 32)>>>((double*)p, (double*)p);
}
"#;

/// A folder of its own, which `analyze` must leave untouched, and the cache that the other tests of this crate use: headers are
/// compiled beforehand once.
struct Desk {
    folder: tempfile::TempDir,
    cache: PathBuf,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), cache: Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache") }
    }

    fn source(&self, text: &str) -> Source {
        Source::new(self.folder.path().join("kernels.hip"), text)
    }

    fn analyze(&self, source: &Source, arch: &str, defines: &[&str]) -> Result<Analysis, LabError> {
        let options = CompileOptions {
            defines: defines.iter().map(|define| (*define).to_owned()).collect(),
            ..CompileOptions::default()
        };
        Codegen::new(&self.cache).unwrap().analyze(source, arch, &options, &Cancel::new())
    }
}

fn find<'a>(analysis: &'a Analysis, name: &str) -> &'a KernelResources {
    analysis.kernels.iter().find(|kernel| kernel.name == name).unwrap_or_else(|| panic!("no {name} in {analysis:#?}"))
}

fn line_of(needle: &str) -> u32 {
    KERNELS.lines().position(|line| line.contains(needle)).unwrap() as u32 + 1
}

#[test]
fn every_instance_is_reported_with_its_figures() {
    let desk = Desk::new();
    let analysis = desk.analyze(&desk.source(KERNELS), "gfx942", &[]).unwrap();
    assert_eq!(analysis.arch, "gfx942");
    assert!(analysis.compiler.contains("clang"));
    assert_eq!(analysis.kernels.len(), 5, "{analysis:#?}");

    let small = find(&analysis, "mine::tiled<float, 16>");
    assert_eq!((small.lds_bytes, small.scratch_bytes, small.agprs), (16 * 17 * 4, 0, 0));
    assert_eq!((small.occupancy, small.limited_by, small.wave_size), (8, Some(Limit::Hardware), 64));
    assert!((1..40).contains(&small.vgprs) && small.sgprs > 0, "{small:?}");
    assert_eq!(find(&analysis, "mine::tiled<double, 32>").lds_bytes, 32 * 33 * 8);

    let scratch = find(&analysis, "scratch");
    assert!(scratch.scratch_bytes >= 256 && scratch.max_block == 256, "{scratch:?}");
    assert_eq!(scratch.line, line_of("void scratch"));

    let lds = find(&analysis, "lds_bound");
    assert_eq!((lds.lds_bytes, lds.occupancy, lds.limited_by), (40_000, 4, Some(Limit::Lds)));

    let matrix = find(&analysis, "matrix");
    assert!(matrix.vgprs + matrix.agprs > 128, "{matrix:?}");
    assert_eq!(matrix.limited_by, Some(Limit::VectorRegisters));
    // Every bound that is known explains the compiler's own figure.
    assert!(analysis.kernels.iter().all(|kernel| kernel.limited_by.is_some()), "{analysis:#?}");
}

#[test]
fn templates_without_an_instance_are_named_and_heads_are_located() {
    let desk = Desk::new();
    let analysis = desk.analyze(&desk.source(KERNELS), "gfx942", &[]).unwrap();
    let left_out: Vec<_> = analysis.not_instantiated.iter().map(|kernel| (kernel.name.as_str(), kernel.line)).collect();
    assert_eq!(left_out, [("never", line_of("void never"))]);
    let tiled = find(&analysis, "mine::tiled<float, 16>");
    assert!(tiled.line < line_of("__shared__ T tile") - 1, "the head, not the body: {tiled:?}");
}

#[test]
fn the_unsaved_text_counts_and_nothing_is_written_beside_it() {
    let desk = Desk::new();
    std::fs::write(desk.folder.path().join("size.h"), "#define SIZE 64\n").unwrap();
    let text = "#include <hip/hip_runtime.h>\n#include \"size.h\"\n__global__ void k(float* x) { __shared__ float all[SIZE * FACTOR]; \
                all[threadIdx.x] = x[0]; __syncthreads(); x[1] = all[threadIdx.x ^ 1]; }\n";
    let unsaved = desk.source(text);
    assert_eq!(desk.analyze(&unsaved, "gfx942", &["FACTOR=2"]).unwrap().kernels[0].lds_bytes, 512);

    std::fs::write(&unsaved.path, "this is stale and does not compile").unwrap();
    let analysis = desk.analyze(&unsaved, "gfx90a", &["FACTOR=4"]).unwrap();
    assert_eq!(find(&analysis, "k").lds_bytes, 1024);
    assert_eq!((analysis.kernels[0].file.as_path(), analysis.kernels[0].line), (unsaved.path.as_path(), 3));
    let mut files: Vec<_> =
        std::fs::read_dir(desk.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["kernels.hip", "size.h"]);
}

#[test]
fn dynamic_shared_memory_counts_towards_occupancy() {
    let desk = Desk::new();
    let text = "#include <hip/hip_runtime.h>\n#define BLOCK 256\n__global__ __launch_bounds__(BLOCK) void k(float* x) {\n  \
                extern __shared__ float all[]; __shared__ float some[16];\n  all[threadIdx.x] = x[0]; some[threadIdx.x & 15] = x[1];\n  \
                __syncthreads(); x[1] = all[threadIdx.x ^ 1] + some[threadIdx.x & 7]; }\n\
                int main(int n, char**) { k<<<1, BLOCK, SHARED>>>(nullptr); }\n";
    let with = |shared: &str| {
        let source = desk.source(&text.replace("SHARED", shared));
        desk.analyze(&source, "gfx942", &[]).unwrap().kernels.remove(0)
    };
    let much = with("BLOCK * 80");
    assert_eq!((much.lds_bytes, much.dynamic_lds_bytes), (20_480 + 64, Some(20_480)));
    assert_eq!((much.occupancy, much.limited_by), (3, Some(Limit::Lds)));
    let little = with("BLOCK * sizeof(float)");
    assert_eq!((little.lds_bytes, little.occupancy, little.limited_by), (1024 + 64, 8, Some(Limit::Hardware)));
    let unknown = with("n * 4");
    assert_eq!((unknown.lds_bytes, unknown.dynamic_lds_bytes, unknown.occupancy), (64, None, 8));
}

#[test]
fn a_header_is_compiled_with_its_main_file() {
    let desk = Desk::new();
    let main = desk.folder.path().join("main.hip");
    std::fs::write(
        &main,
        "#include <hip/hip_runtime.h>\n#include \"kernels.hip\"\ntemplate __global__ void k<SIZE>(float*);\n",
    )
    .unwrap();
    let text = "template <int N> __global__ void k(float* x) { __shared__ float all[N]; all[threadIdx.x] = x[0]; \
                __syncthreads(); x[1] = all[threadIdx.x ^ 1]; }\n";
    std::fs::write(desk.folder.path().join("kernels.hip"), "this is stale and does not compile").unwrap();
    let options = CompileOptions { main: Some(main), defines: vec!["SIZE=32".into()], ..CompileOptions::default() };
    let codegen = Codegen::new(&desk.cache).unwrap();
    let analysis = codegen.analyze(&desk.source(text), "gfx942", &options, &Cancel::new()).unwrap();
    assert_eq!((find(&analysis, "k<32>").lds_bytes, find(&analysis, "k<32>").line), (128, 1));
}

#[test]
fn errors_are_located_in_the_users_file() {
    let desk = Desk::new();
    let lds = "#include <hip/hip_runtime.h>\n\n__global__ void k(float* x) {\n  __shared__ float all[20000];\n  all[threadIdx.x] = x[0];\n  \
               __syncthreads();\n  x[1] = all[3];\n}\n";
    for (text, line, message) in [
        (lds, 3, "local memory (80000) exceeds limit (65536)"),
        (
            "#include <hip/hip_runtime.h>\n__global__ void k(float* x) { x[0] = nowhere; }\n",
            2,
            "undeclared identifier 'nowhere'",
        ),
        ("#include \"missing.h\"\n", 1, "'missing.h' file not found"),
    ] {
        let source = desk.source(text);
        for saved in [false, true] {
            if saved {
                std::fs::write(&source.path, text).unwrap();
            }
            let error = desk.analyze(&source, "gfx942", &[]).unwrap_err();
            let LabError::Code(Failure::DoesNotCompile { diagnostics }) = &error else { panic!("{error:?}") };
            let first = &diagnostics[0];
            assert_eq!((first.file.as_path(), first.line), (source.path.as_path(), line), "{first}");
            assert!(first.message.contains(message), "{first}");
        }
        std::fs::remove_file(&source.path).unwrap();
    }
}

#[test]
fn a_file_without_kernels_has_none() {
    let desk = Desk::new();
    let analysis = desk.analyze(&desk.source("int main() { return 0; }\n"), "gfx942", &[]).unwrap();
    assert!(analysis.kernels.is_empty() && analysis.not_instantiated.is_empty());
}

#[test]
fn unknown_architectures_and_missing_tools_are_told_apart() {
    let desk = Desk::new();
    let source = desk.source(KERNELS);
    assert!(matches!(desk.analyze(&source, "sm_90", &[]), Err(LabError::Usage(_))));
    let error = desk.analyze(&source, "gfx9999", &[]).unwrap_err();
    assert!(matches!(&error, LabError::Unavailable(text) if text.contains("gfx9999")), "{error}");
    let nowhere = Places { programs: vec![], device_libraries: vec![], hip_roots: vec![] };
    let error = Codegen::from_places(Path::new("/tmp"), &nowhere, &Cancel::new()).unwrap_err();
    assert!(matches!(&error, LabError::Unavailable(text) if text.contains("apt-get install")), "{error}");
}

#[test]
fn a_cancelled_analysis_ends_at_once() {
    let desk = Desk::new();
    let cancel = Cancel::new();
    cancel.cancel();
    let result = Codegen::new(&desk.cache).unwrap().analyze(
        &desk.source(KERNELS),
        "gfx942",
        &CompileOptions::default(),
        &cancel,
    );
    assert!(matches!(result, Err(LabError::Cancelled)));
}

#[test]
fn what_is_known_of_a_text_is_asked_again_where_a_header_of_it_changes() {
    let desk = Desk::new();
    let header = desk.folder.path().join("size.h");
    let text = "#include <hip/hip_runtime.h>\n#include \"size.h\"\n__global__ void k(float* x) {\n\
                __shared__ float all[SIZE];\nall[threadIdx.x] = x[threadIdx.x];\n__syncthreads();\n\
                x[threadIdx.x] = all[SIZE - 1 - threadIdx.x];\n}\n";
    let source = desk.source(text);
    std::fs::write(&source.path, text).unwrap();
    let codegen = Codegen::new(&desk.cache).unwrap();
    let analyze = || codegen.analyze(&source, "gfx942", &CompileOptions::default(), &Cancel::new()).unwrap();
    std::fs::write(&header, "#define SIZE 256\n").unwrap();
    let first = analyze();
    assert_eq!((find(&first, "k").lds_bytes, analyze()), (1024, first.clone()));
    std::fs::write(&header, "#define SIZE 512\n").unwrap();
    assert_eq!(find(&analyze(), "k").lds_bytes, 2048);
    // A header that is gone is an error, whatever is known.
    std::fs::remove_file(&header).unwrap();
    let gone = codegen.analyze(&source, "gfx942", &CompileOptions::default(), &Cancel::new());
    assert!(matches!(gone, Err(LabError::Code(Failure::DoesNotCompile { .. }))), "{gone:?}");
}
