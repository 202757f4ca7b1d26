//! Joins the assembly's metadata with the compiler's remarks into one entry a kernel.

use hip_syntax::{Kernel, Launch, Syntax};

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

/// The part of the assembly that [`collect`] reads, and what may follow it.
pub(super) fn metadata_block(assembly: &str) -> &str {
    assembly.find(".amdgpu_metadata").map_or("", |at| &assembly[at..])
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
    syntax: &Syntax,
    arch: &str,
) -> (Vec<KernelResources>, Vec<NotInstantiated>) {
    let mut kernels: Vec<KernelResources> = metadata(assembly)
        .iter()
        .filter_map(|kernel| {
            let symbol = kernel.text("name")?;
            let remark = remarks.iter().find(|remark| remark.symbol == symbol)?;
            Some(resources(kernel, remark, source, syntax, arch))
        })
        .collect();
    kernels.sort_by(|a, b| (&a.file, a.line, &a.name).cmp(&(&b.file, b.line, &b.name)));
    let not_instantiated = not_instantiated(syntax.kernels(), &kernels, source);
    (kernels, not_instantiated)
}

fn resources(kernel: &Metadata<'_>, remark: &Remark, source: &Source, syntax: &Syntax, arch: &str) -> KernelResources {
    let name = names::kernel_name(&remark.symbol);
    let head = head(remark, source, syntax.kernels());
    let dynamic_lds_bytes = dynamic_lds(&name, head, syntax);
    let (total, agprs) = (kernel.number("vgpr_count"), kernel.number("agpr_count"));
    // The metadata counts both kinds of vector registers together where they share a file; the remark has them apart.
    let vgprs = remark.figure("VGPRs").unwrap_or(total.saturating_sub(agprs));
    let demand = Demand {
        vgprs,
        agprs,
        sgprs: kernel.number("sgpr_count"),
        lds_bytes: kernel.number("group_segment_fixed_size").saturating_add(dynamic_lds_bytes.unwrap_or(0)),
        block: kernel.number("max_flat_workgroup_size"),
        wave_size: kernel.number("wavefront_size"),
    };
    let bound = limit(arch, &demand);
    let by_rules = bound.map(|(_, waves)| waves);
    let occupancy = match (remark.figure("Occupancy"), by_rules) {
        // The compiler does not know of dynamic shared memory.
        (Some(compilers), Some(ours)) if dynamic_lds_bytes > Some(0) => compilers.min(ours),
        (compilers, ours) => compilers.or(ours).unwrap_or(0),
    };
    KernelResources {
        name,
        symbol: remark.symbol.clone(),
        file: remark.file.clone(),
        line: head.map_or(remark.line, |head| head.line),
        vgprs,
        agprs,
        sgprs: demand.sgprs,
        lds_bytes: demand.lds_bytes,
        dynamic_lds_bytes,
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

/// The kernel's head in the text: the remark names the line where the body opens.
fn head<'a>(remark: &Remark, source: &Source, heads: &'a [Kernel]) -> Option<&'a Kernel> {
    let in_text = remark.file == source.path;
    heads.iter().find(|kernel| in_text && (kernel.line..=kernel.end_line).contains(&remark.line))
}

/// The dynamic shared memory of a kernel, as [`KernelResources::dynamic_lds_bytes`] says. All instances of a template are
/// taken together: a launch does not always say which it is of.
fn dynamic_lds(name: &str, head: Option<&Kernel>, syntax: &Syntax) -> Option<u32> {
    let plain = name.split('<').next().unwrap_or(name);
    let plain = plain.rsplit("::").next().unwrap_or(plain);
    let of_kernel = syntax.launches().iter().filter(|launch| launch.kernel == plain);
    let amounts: Vec<Option<u32>> = of_kernel.map(|launch| given(launch, syntax)).collect();
    if amounts.is_empty() {
        let has_some = head.is_none_or(|head| head.shared.iter().any(|array| array.dynamic));
        return (!has_some).then_some(0);
    }
    amounts.into_iter().try_fold(0, |most, amount| amount.map(|amount| most.max(amount)))
}

/// The bytes of dynamic shared memory that a launch gives, where that is a constant.
fn given(launch: &Launch, syntax: &Syntax) -> Option<u32> {
    match &launch.shared {
        None => Some(0),
        Some(range) => u32::try_from(syntax.evaluate(range)?).ok(),
    }
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
    fn dynamic_shared_memory_is_what_launches_give_as_constants() {
        let of = |launches: &str| {
            let text = format!(
                "#define N 256\n__global__ void k(float* x) {{ extern __shared__ float all[]; x[0] = all[0]; }}\n\
                 __global__ void none(float* x) {{ x[0] = 1; }}\nint main(int n, char**) {{ {launches} }}\n"
            );
            let syntax = Syntax::parse(text);
            ["ns::k<float, 16>", "none"].map(|name| {
                let plain = if name == "none" { "none" } else { "k" };
                dynamic_lds(name, syntax.kernel(plain), &syntax)
            })
        };
        assert_eq!(of("k<<<1, N, N * sizeof(float)>>>(p);"), [Some(1024), Some(0)]);
        assert_eq!(of("k<<<1, N, 100>>>(p); k<<<1, N, 2 * N>>>(p); k<<<1, N>>>(p);"), [Some(512), Some(0)]);
        assert_eq!(of("hipLaunchKernelGGL(k, 1, N, 64, 0, p);"), [Some(64), Some(0)]);
        assert_eq!(of("k<<<1, N, 100>>>(p); k<<<1, N, n>>>(p);"), [None, Some(0)]);
        assert_eq!(of("none<<<1, N, 4 * N>>>(p);"), [None, Some(1024)]);
        assert_eq!(of(""), [None, Some(0)]);
    }

    #[test]
    fn metadata_is_read_by_kernel_and_arguments_are_passed_over() {
        let kernels = metadata(ASSEMBLY);
        let [plain, other] = kernels.as_slice() else { panic!("{kernels:?}") };
        assert_eq!(plain.text("name"), Some("_Z5plainPfi"));
        assert_eq!((plain.number("vgpr_count"), plain.number("group_segment_fixed_size")), (77, 1088));
        assert_eq!((other.text("name"), other.number("agpr_count")), (Some("_Z1kPf"), 4));
    }
}
