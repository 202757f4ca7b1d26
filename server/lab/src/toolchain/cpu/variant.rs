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
            Self::Nvptx => &["-DKS_WAVE_SIZE=32"],
            Self::Amdgcn => &["-DKS_WAVE_SIZE=64"],
        }
    }

    /// Whose code LLVM's optimiser makes.
    pub(super) fn machine(self) -> &'static [&'static str] {
        match self {
            // nvcc unrolls loops four times, also where the number of turns takes some arithmetic.
            Self::Nvptx => &[
                "-mtriple=nvptx64-nvidia-cuda",
                "-mcpu=sm_90",
                "-scev-cheap-expansion-budget=100",
                "-unroll-max-count=4",
            ],
            Self::Amdgcn => &["-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx942"],
        }
    }
}
