//! Variants of the runtime, and of the programs that are built for it.

use crate::sanitize::Sanitizer;

/// What is made of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// A program to run and to time.
    Plain,
    /// One that looks for faults while it runs.
    Sanitized(Sanitizer),
    /// One that records what its kernels do.
    Traced(Target),
}

impl Variant {
    /// Whether kernels stay as they are written, whatever barriers they have.
    pub fn keeps_kernels_whole(self) -> bool {
        // Sanitizers tell work-items apart by their stacks; a device has no loops over work-items.
        self != Self::Plain
    }
}

/// The kind of device whose optimiser a traced program goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// NVIDIA's: waves of 32 work-items.
    Nvptx,
    /// AMD's CDNA 3: waves of 64.
    Amdgcn,
}

impl Target {
    /// Work-items of a wave.
    pub fn wave_size(self) -> u32 {
        match self {
            Self::Nvptx => 32,
            Self::Amdgcn => 64,
        }
    }

    pub(super) fn defines(self) -> &'static [&'static str] {
        match self {
            Self::Nvptx => &["-DKS_WAVE_SIZE=32", "-Xclang", EACH_HALF_ROUNDS],
            Self::Amdgcn => &["-DKS_WAVE_SIZE=64", "-Xclang", EACH_HALF_ROUNDS],
        }
    }

    /// What LLVM's optimiser does with a unit, in order: the arguments of each of its runs.
    ///
    /// A compiler's passes on a kernel before it chooses instructions, with the passes of its code generator that decide how
    /// addresses are computed and how wide accesses are.
    pub(super) fn stages(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Nvptx => &NVCC,
            Self::Amdgcn => &CLANG,
        }
    }
}

/// Operations of `_Float16` are operations on halves, as on a GPU, and not on floats with conversions around.
const EACH_HALF_ROUNDS: &str = "-ffloat16-excess-precision=none";

/// As clang's for CDNA 3. What is copied through the stack on the host alone (a `float4` that a function returns) is gone in the end.
const CLANG: [&[&str]; 1] = [&[
    "-mtriple=amdgcn-amd-amdhsa",
    "-mcpu=gfx942",
    "-vectorize-loops=false",
    "-vectorize-slp=false",
    "-passes=default<O3>,function(separate-const-offset-from-gep<lower-gep>,slsr,gvn,nary-reassociate,early-cse,\
     loop(loop-reduce),load-store-vectorizer,dse,sroa)",
]];

/// As nvcc's, whose loops were counted in its PTX.
const NVCC: [&[&str]; 3] = [
    // LLVM threads no jumps for targets whose work-items part, nvcc does: a `break` leaves its loop by one branch.
    &["-passes=always-inline,function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,\
       jump-threading,correlated-propagation,simplifycfg)"],
    // Loops whose number of turns is known are unrolled, whole or by as much as fits.
    &[
        "-mtriple=nvptx64-nvidia-cuda",
        "-mcpu=sm_90",
        "-vectorize-loops=false",
        "-vectorize-slp=false",
        "-scev-cheap-expansion-budget=100",
        "-unroll-threshold=400",
        "-unroll-partial-threshold=150",
        "-unroll-runtime=false",
        "-passes=default<O3>",
    ],
    // The others four times, also where the number of turns takes some arithmetic. Accesses are put together before addresses become
    // numbers, whose alignment is not known any more, and after.
    &[
        "-mtriple=nvptx64-nvidia-cuda",
        "-mcpu=sm_90",
        "-scev-cheap-expansion-budget=100",
        "-unroll-max-count=4",
        "-passes=function(loop-unroll<O3;runtime;partial>,instcombine<no-verify-fixpoint>,sroa,early-cse,\
         loop-mssa(licm),simplifycfg,load-store-vectorizer,separate-const-offset-from-gep<lower-gep>,slsr,gvn,\
         nary-reassociate,early-cse,loop(loop-reduce),load-store-vectorizer,dse,sroa)",
    ],
];
