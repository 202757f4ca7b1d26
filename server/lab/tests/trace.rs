//! Traced programs: what is recorded is what a kernel does, address by address.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::time::Duration;

use forecast::code::{Class, Code, OpKind};
use forecast::trace::{Event, Launch, RegionKind};
use lab::toolchain::forecast::{Extent, Target};
use lab::workbench::{ShapeChoice, Workbench, WorkbenchOptions};
use lab::{Cancel, Failure, LabError, Source};

const TRANSPOSE: &str = r#"#include <hip/hip_runtime.h>
__global__ void transpose(const float *in, float *out) {
    __shared__ float tile[8][9];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 8 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 8 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
int main() {
    float host[64], *in, *out;
    for (int i = 0; i < 64; ++i) host[i] = i;
    (void)hipMalloc(&in, 256);
    (void)hipMalloc(&out, 256);
    (void)hipMemcpy(in, host, 256, hipMemcpyHostToDevice);
    for (int i = 0; i < 3; ++i) transpose<<<1, dim3(8, 8)>>>(in, out);
    (void)hipMemcpy(host, out, 256, hipMemcpyDeviceToHost);
    for (int i = 0; i < 64; ++i) if (host[i] != i % 8 * 8 + i / 8) return 1;
    return 0;
}
"#;

fn trace(text: &str, target: Target) -> Result<(Code, Vec<Launch>), LabError> {
    let options = WorkbenchOptions {
        cache: Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"),
        device: "cpu".into(),
        benchmark: None,
        program_args: None,
        kernel: None,
        timeout: Duration::from_secs(60),
        memory_bytes: 4 << 30,
    };
    let source = Source::new("/w/traced.hip", text);
    let bench = Workbench::open(&source, options, &Cancel::new())?;
    let traced = bench.trace(&source, target, &Extent::default(), ShapeChoice::Shown, &Cancel::new())?;
    let [(None, run)] = traced.runs.as_slice() else { panic!("a program has one run") };
    assert_eq!(run.failure, None);
    Ok((traced.code, run.launches.clone()))
}

#[test]
fn a_transpose_is_recorded_address_by_address() {
    for target in [Target::Nvptx, Target::Amdgcn] {
        let (code, launches) = trace(TRANSPOSE, target).unwrap();
        let [launch] = launches.as_slice() else { panic!("{launches:?}") };
        assert_eq!((launch.kernel.as_str(), launch.grid, launch.block), ("transpose", [1, 1, 1], [8, 8, 1]));
        assert_eq!((launch.launches, launch.complete, launch.cut), (3, true, false));
        assert_eq!(code.blocks.len(), 1);
        let lines: Vec<_> = code.blocks[0].ops.iter().filter(|op| is_access(op.kind)).map(|op| op.line).collect();
        assert_eq!(lines, [4, 4, 6, 6]);

        let items = &launch.blocks[0].items;
        let base = |access: usize| items[0][access + 1].address();
        for (number, item) in items.iter().enumerate() {
            let (x, y) = (number as u64 % 8, number as u64 / 8);
            let row = 4 * (8 * y + x);
            let expected = [base(0) + row, base(1) + 4 * (9 * y + x), base(2) + 4 * (9 * x + y), base(3) + row];
            assert_eq!(item[0], Event::enter(0));
            assert_eq!(item[1..].iter().map(|event| event.address()).collect::<Vec<_>>(), expected);
        }
        let kind = |address: u64| {
            let region = launch.regions.iter().find(|region| (region.begin..region.end).contains(&address));
            region.map(|region| region.kind)
        };
        assert_eq!(
            [0, 1, 2, 3].map(|access| kind(base(access))),
            [Some(RegionKind::Global), Some(RegionKind::Shared), Some(RegionKind::Shared), Some(RegionKind::Global)]
        );
    }
}

fn is_access(kind: OpKind) -> bool {
    matches!(kind, OpKind::Load { .. } | OpKind::Store { .. } | OpKind::Atomic { .. })
}

#[test]
fn assembly_is_refused_with_its_line() {
    let text = TRANSPOSE.replace("    __syncthreads();", "    asm volatile(\"nop\");");
    let Err(LabError::Code(Failure::DoesNotCompile { diagnostics })) = trace(&text, Target::Amdgcn) else {
        panic!("it was not refused");
    };
    assert_eq!(diagnostics[0].line, 5);
    assert!(diagnostics[0].message.contains("inline assembly"), "{}", diagnostics[0]);
}

#[test]
fn printf_of_host_and_kernel_stays_what_it_is() {
    let text = r#"#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void scale(float *out) {
    out[threadIdx.x] *= 2;
    if (threadIdx.x == 0) printf("block %d\n", (int)blockIdx.x);
}
int main(int count, char **) {
    float *out;
    (void)hipMalloc(&out, 256);
    scale<<<1, 64>>>(out);
    printf("%d arguments\n", count);
    std::printf("done\n");
    return 0;
}
"#;
    for target in [Target::Nvptx, Target::Amdgcn] {
        for text in [
            text.to_owned(),
            text.replacen(
                "#include <hip/hip_runtime.h>\n#include <cstdio>",
                "#include <cstdio>\n#include <hip/hip_runtime.h>",
                1,
            ),
        ] {
            let (_, launches) = trace(&text, target).unwrap();
            assert_eq!(launches[0].kernel, "scale");
        }
    }
}

#[test]
fn dot_products_of_bytes_are_one_instruction_each() {
    let text = r#"#include <hip/hip_runtime.h>
#ifdef __HIP_PLATFORM_NVIDIA__
__global__ void dots(int *out, const int *in) {
    const int a = in[0], b = in[1];
    out[0] = __dp4a(a, b, 5);
    out[1] = __dp2a_lo(a, b, 7);
    out[2] = __dp2a_hi(a, b, 7);
    out[3] = (int)__dp4a((unsigned)a, (unsigned)b, 5u);
}
#else
__global__ void dots(int *out, const int *in) {
    const int a = in[0], b = in[1];
    out[0] = __builtin_amdgcn_sdot4(a, b, 5, false);
    out[1] = 7 + 0x0102 * -1 + (short)0xfffe * 4;
    out[2] = 7 + 0x0102 * -128 + (short)0xfffe * 3;
    out[3] = (int)amd_mixed_dot(__builtin_bit_cast(uchar4, a), __builtin_bit_cast(uchar4, b), 5u, false);
}
#endif
int main() {
    // Bytes 2, 1, -2, -1 and -1, 4, -128, 3, the first the lowest; halves 0x0102 and -2.
    const int host[2] = {(int)0xfffe0102, 0x038004ff}, expected[4] = {260, -259, -33023, 33796};
    int *in, *out, got[4];
    (void)hipMalloc(&in, sizeof host);
    (void)hipMalloc(&out, sizeof got);
    (void)hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice);
    dots<<<1, 1>>>(out, in);
    (void)hipMemcpy(got, out, sizeof got, hipMemcpyDeviceToHost);
    for (int i = 0; i < 4; ++i) if (got[i] != expected[i]) return i + 1;
    return 0;
}
"#;
    for (target, lines) in [(Target::Nvptx, &[5, 6, 7, 8][..]), (Target::Amdgcn, &[13, 16])] {
        let (code, _) = trace(text, target).unwrap();
        for line in lines {
            let ops = code.blocks.iter().flat_map(|block| &block.ops).filter(|op| op.line == *line);
            let class = |kind: OpKind| if let OpKind::Compute(class) = kind { Some(class) } else { None };
            let computed: Vec<_> = ops.filter_map(|op| class(op.kind)).collect();
            assert_eq!(computed, [Class::Multiply32], "{target:?}, line {line}");
        }
    }
}
