//! Joins the assembly's metadata with the compiler's remarks into one entry a kernel.

use hip_syntax::Kernel;

use super::occupancy::{Demand, limit};
use super::remarks::Remark;
use super::{KernelResources, NotInstantiated, names};
use crate::source::Source;

/// One kernel of the code object's metadata. Its keys are documented in LLVM's *User Guide for AMDGPU Backend*.
#[derive(Debug, Default)]
struct Metadata<'a> {
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Metadata<'a> {
    fn text(&self, key: &str) -> Option<&'a str> {
        self.pairs.iter().find(|(name, _)| *name == key).map(|(_, value)| value.trim_matches('\''))
    }

    fn number(&self, key: &str) -> u32 {
        self.text(key).and_then(|value| value.parse().ok()).unwrap_or(0)
    }
}

/// Reads the kernels out of the `.amdgpu_metadata` block of the assembly: a YAML list whose entries begin with `  - `,
/// with their own keys indented by four and those of the arguments by more.
fn metadata(assembly: &str) -> Vec<Metadata<'_>> {
    let block = assembly
        .lines()
        .skip_while(|line| line.trim() != ".amdgpu_metadata")
        .take_while(|line| line.trim() != ".end_amdgpu_metadata");
    let mut kernels: Vec<Metadata<'_>> = Vec::new();
    for line in block {
        if line.starts_with("  - .") && !line.starts_with("   ") {
            kernels.push(Metadata::default());
        }
        let Some(kernel) = kernels.last_mut() else { continue };
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        if let Some(key) = key.strip_prefix("    .").or_else(|| key.strip_prefix("  - .")) {
            kernel.pairs.push((key, value));
        }
    }
    kernels
}

/// Kernels in the order of lines, and the templates that have no instance.
pub(super) fn collect(
    assembly: &str,
    remarks: &[Remark],
    source: &Source,
    heads: &[Kernel],
    arch: &str,
) -> (Vec<KernelResources>, Vec<NotInstantiated>) {
    let mut kernels: Vec<KernelResources> = metadata(assembly)
        .iter()
        .filter_map(|kernel| {
            let symbol = kernel.text("name")?;
            let remark = remarks.iter().find(|remark| remark.symbol == symbol)?;
            Some(resources(kernel, remark, source, heads, arch))
        })
        .collect();
    kernels.sort_by(|a, b| (&a.file, a.line, &a.name).cmp(&(&b.file, b.line, &b.name)));
    let not_instantiated = not_instantiated(heads, &kernels, source);
    (kernels, not_instantiated)
}

fn resources(kernel: &Metadata<'_>, remark: &Remark, source: &Source, heads: &[Kernel], arch: &str) -> KernelResources {
    let (total, agprs) = (kernel.number("vgpr_count"), kernel.number("agpr_count"));
    // The metadata counts both kinds of vector registers together where they share a file; the remark has them apart.
    let vgprs = remark.figure("VGPRs").unwrap_or(total.saturating_sub(agprs));
    let demand = Demand {
        vgprs,
        agprs,
        sgprs: kernel.number("sgpr_count"),
        lds_bytes: kernel.number("group_segment_fixed_size"),
        block: kernel.number("max_flat_workgroup_size"),
        wave_size: kernel.number("wavefront_size"),
    };
    let bound = limit(arch, &demand);
    let occupancy = remark.figure("Occupancy").or(bound.map(|(_, waves)| waves)).unwrap_or(0);
    KernelResources {
        name: names::kernel_name(&remark.symbol),
        symbol: remark.symbol.clone(),
        file: remark.file.clone(),
        line: head_line(remark, source, heads),
        vgprs,
        agprs,
        sgprs: demand.sgprs,
        lds_bytes: demand.lds_bytes,
        scratch_bytes: kernel.number("private_segment_fixed_size"),
        vgpr_spills: kernel.number("vgpr_spill_count"),
        sgpr_spills: kernel.number("sgpr_spill_count"),
        wave_size: demand.wave_size,
        max_block: demand.block,
        occupancy,
        // A reason is given only where it explains the compiler's figure.
        limited_by: bound.filter(|(_, waves)| *waves == occupancy).map(|(limit, _)| limit),
    }
}

/// The line of the kernel's head: the remark names the line where the body opens.
fn head_line(remark: &Remark, source: &Source, heads: &[Kernel]) -> u32 {
    if remark.file != source.path {
        return remark.line;
    }
    heads
        .iter()
        .find(|kernel| (kernel.line..=kernel.end_line).contains(&remark.line))
        .map_or(remark.line, |kernel| kernel.line)
}

/// Kernels of the text that the compiler made no code for. Only a template can be left out.
fn not_instantiated(heads: &[Kernel], kernels: &[KernelResources], source: &Source) -> Vec<NotInstantiated> {
    heads
        .iter()
        .filter(|kernel| !kernel.template_params.is_empty())
        .filter(|kernel| !kernels.iter().any(|built| built.file == source.path && built.line == kernel.line))
        .map(|kernel| NotInstantiated { name: kernel.qualified_name.clone(), line: kernel.line })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASSEMBLY: &str = "\
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .address_space:  global
        .name:           not_the_kernel
        .size:           8
      - .offset:         136
        .value_kind:     hidden_dynamic_lds_size
    .group_segment_fixed_size: 1088
    .language_version:
      - 2
      - 0
    .name:           _Z5plainPfi
    .vgpr_count:     77
  - .agpr_count:     4
    .name:           '_Z1kPf'
amdhsa.target:   amdgcn-amd-amdhsa--gfx942
...
\t.end_amdgpu_metadata
  - .agpr_count: 9
";

    #[test]
    fn metadata_is_read_by_kernel_and_arguments_are_passed_over() {
        let kernels = metadata(ASSEMBLY);
        let [plain, other] = kernels.as_slice() else { panic!("{kernels:?}") };
        assert_eq!(plain.text("name"), Some("_Z5plainPfi"));
        assert_eq!((plain.number("vgpr_count"), plain.number("group_segment_fixed_size")), (77, 1088));
        assert_eq!((other.text("name"), other.number("agpr_count")), (Some("_Z1kPf"), 4));
    }
}
