//! How many waves a SIMD can hold at once, and what keeps it from holding more.
//!
//! The rules are those of the GCN and CDNA machines, wave64: a compute unit has four SIMDs and 64 KiB of LDS.
//! Sources: *AMD Instinct MI300 "CDNA3" Instruction Set Architecture Reference Guide* and its CDNA and CDNA2
//! predecessors (register files and their allocation granules); LLVM's *User Guide for AMDGPU Backend* and
//! `AMDGPUBaseInfo.cpp` (`getVGPRAllocGranule`, `getTotalNumVGPRs`, `getMaxWavesPerEU`, `getMaxWorkGroupsPerCU`), which
//! the compiler's own remark is computed from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// SIMDs of a compute unit.
const SIMDS: u32 = 4;
/// LDS of a compute unit in bytes.
const LDS_BYTES: u32 = 64 << 10;
/// Blocks of more than one wave that a compute unit can hold: it has that many barriers.
const BARRIERS: u32 = 16;
/// Scalar registers of a SIMD, and the granule in which they are given to waves (GFX8 and GFX9).
const SCALAR_REGISTERS: (u32, u32) = (800, 16);

/// What bounds the number of waves on a SIMD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Nothing of the kernel's: the machine holds no more waves.
    Hardware,
    /// Vector and accumulation registers.
    VectorRegisters,
    /// Scalar registers.
    ScalarRegisters,
    /// LDS of the blocks.
    Lds,
    /// Whole blocks of the largest allowed size do not fill the rest.
    BlockSize,
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Hardware => "nothing",
            Self::VectorRegisters => "vector registers",
            Self::ScalarRegisters => "scalar registers",
            Self::Lds => "LDS",
            Self::BlockSize => "block size",
        })
    }
}

/// What a kernel takes of a compute unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand {
    /// Vector registers of a work-item, without accumulation registers.
    pub vgprs: u32,
    /// Accumulation registers of a work-item.
    pub agprs: u32,
    /// Scalar registers of a wave.
    pub sgprs: u32,
    /// LDS of a block in bytes.
    pub lds_bytes: u32,
    /// Work-items of a block.
    pub block: u32,
    /// Work-items of a wave.
    pub wave_size: u32,
}

/// The register files of one family of machines.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// Waves that a SIMD holds at most.
    waves: u32,
    /// Vector registers of a SIMD's lane.
    vector_registers: u32,
    /// Granule in which they are given to waves.
    granule: u32,
    /// Whether accumulation registers come out of the same file (in fours, after the vector registers).
    unified: bool,
}

impl Rules {
    /// The rules of an architecture; `None` where they are not known here (RDNA).
    fn of(arch: &str) -> Option<Self> {
        let processor = arch.split(':').next().unwrap_or(arch);
        match processor {
            "gfx90a" | "gfx940" | "gfx941" | "gfx942" | "gfx950" => {
                Some(Self { waves: 8, vector_registers: 512, granule: 8, unified: true })
            }
            "gfx900" | "gfx902" | "gfx904" | "gfx906" | "gfx908" | "gfx909" | "gfx90c" => {
                Some(Self { waves: 10, vector_registers: 256, granule: 4, unified: false })
            }
            _ => None,
        }
    }

    fn by_vector_registers(self, demand: &Demand) -> u32 {
        let registers = match (self.unified, demand.agprs) {
            (true, 1..) => demand.vgprs.next_multiple_of(4) + demand.agprs,
            (true, 0) => demand.vgprs,
            (false, agprs) => demand.vgprs.max(agprs),
        };
        self.vector_registers / registers.max(1).next_multiple_of(self.granule)
    }
}

/// The bound that is reached first, with the waves on a SIMD that it allows.
///
/// Of equal bounds the machine's own comes first, then the one that is cheapest to change.
pub(super) fn limit(arch: &str, demand: &Demand) -> Option<(Limit, u32)> {
    let rules = Rules::of(arch)?;
    let (registers, granule) = SCALAR_REGISTERS;
    let (by_blocks, by_lds) = by_blocks_and_lds(rules, demand);
    [
        (Limit::Hardware, rules.waves),
        (Limit::BlockSize, by_blocks),
        (Limit::VectorRegisters, rules.by_vector_registers(demand)),
        (Limit::Lds, by_lds),
        (Limit::ScalarRegisters, registers / demand.sgprs.max(1).next_multiple_of(granule)),
    ]
    .into_iter()
    .min_by_key(|(_, waves)| *waves)
    .map(|(limit, waves)| (limit, waves.max(1)))
}

/// Waves on a SIMD with as many whole blocks as fit, without and with their LDS counted.
fn by_blocks_and_lds(rules: Rules, demand: &Demand) -> (u32, u32) {
    let waves_per_block = demand.block.div_ceil(demand.wave_size.max(1)).max(1);
    let whole_blocks = match waves_per_block {
        1 => rules.waves * SIMDS,
        many => (rules.waves * SIMDS / many).min(BARRIERS),
    };
    let on_a_simd = |blocks: u32| (blocks * waves_per_block).div_ceil(SIMDS).min(rules.waves);
    (on_a_simd(whole_blocks), on_a_simd(whole_blocks.min(LDS_BYTES / demand.lds_bytes.max(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Demand = Demand { vgprs: 32, agprs: 0, sgprs: 16, lds_bytes: 0, block: 256, wave_size: 64 };

    #[test]
    fn cdna3_waves_follow_the_register_file_in_granules_of_eight() {
        // The steps of the CDNA3 table: 512 registers a lane, eight waves at most.
        for (vgprs, waves) in [
            (64, 8),
            (65, 7),
            (72, 7),
            (73, 6),
            (80, 6),
            (81, 5),
            (96, 5),
            (97, 4),
            (128, 4),
            (129, 3),
            (168, 3),
            (169, 2),
            (256, 2),
        ] {
            assert_eq!(limit("gfx942", &Demand { vgprs, ..SMALL }).unwrap().1, waves, "{vgprs}");
        }
    }

    #[test]
    fn accumulation_registers_share_the_file_on_cdna3_and_have_their_own_on_cdna1() {
        let demand = Demand { vgprs: 88, agprs: 128, ..SMALL };
        assert_eq!(limit("gfx942", &demand), Some((Limit::VectorRegisters, 2)));
        assert_eq!(limit("gfx908", &demand), Some((Limit::VectorRegisters, 2)));
        let demand = Demand { vgprs: 64, agprs: 64, ..SMALL };
        assert_eq!(limit("gfx942", &demand), Some((Limit::VectorRegisters, 4)));
        assert_eq!(limit("gfx908", &demand), Some((Limit::VectorRegisters, 4)));
        assert_eq!(limit("gfx908", &Demand { vgprs: 24, agprs: 0, ..SMALL }), Some((Limit::Hardware, 10)));
    }

    #[test]
    fn the_bound_that_is_reached_first_is_named() {
        for (demand, expected) in [
            (SMALL, (Limit::Hardware, 8)),
            (Demand { vgprs: 100, ..SMALL }, (Limit::VectorRegisters, 4)),
            (Demand { lds_bytes: 17_000, ..SMALL }, (Limit::Lds, 3)),
            (Demand { lds_bytes: 40_000, block: 1024, ..SMALL }, (Limit::Lds, 4)),
            (Demand { lds_bytes: 40_000, block: 64, ..SMALL }, (Limit::Lds, 1)),
            (Demand { block: 704, ..SMALL }, (Limit::BlockSize, 6)),
            (Demand { lds_bytes: 64 << 10, vgprs: 512, ..SMALL }, (Limit::VectorRegisters, 1)),
        ] {
            assert_eq!(limit("gfx942", &demand), Some(expected), "{demand:?}");
        }
    }

    #[test]
    fn no_rule_is_made_up_for_other_machines() {
        assert_eq!(limit("gfx1100", &SMALL), None);
    }
}
