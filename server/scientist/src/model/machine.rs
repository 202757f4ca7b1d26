//! What kernels need of a unit, by code generation, in the words of a question.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lab::Cancel;
use lab::codegen::KernelResources;

/// Kernels told of in one question at most.
const KERNELS: usize = 12;

/// Says what the kernels of a text need; nothing where that is not known.
pub type OfText = Arc<dyn Fn(&str, &Cancel) -> Vec<KernelResources> + Send + Sync>;

/// What is known of the code that versions become.
#[derive(Clone)]
pub struct Machine {
    arch: String,
    of_text: OfText,
    /// By text: code is generated once, before anything of it is timed, and not beside that.
    known: Arc<Mutex<HashMap<blake3::Hash, Vec<String>>>>,
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Machine").field("arch", &self.arch).finish_non_exhaustive()
    }
}

impl Machine {
    /// Of code that is generated for an architecture, such as `gfx942`.
    pub fn new(arch: impl Into<String>, of_text: OfText) -> Self {
        Self { arch: arch.into(), of_text, known: Arc::default() }
    }

    /// The architecture.
    pub fn arch(&self) -> &str {
        &self.arch
    }

    /// A line for each kernel of a text.
    pub(super) fn lines(&self, text: &str, cancel: &Cancel) -> Vec<String> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = blake3::hash(text.as_bytes());
        if let Some(lines) = known().get(&hash) {
            return lines.clone();
        }
        let lines: Vec<String> = (self.of_text)(text, cancel).iter().take(KERNELS).map(in_words).collect();
        if !cancel.is_cancelled() {
            known().insert(hash, lines.clone());
        }
        lines
    }
}

fn in_words(kernel: &KernelResources) -> String {
    let KernelResources { name, vgprs, agprs, sgprs, lds_bytes, scratch_bytes, occupancy, .. } = kernel;
    let accumulation = if *agprs > 0 { format!(" and {agprs} accumulation registers") } else { String::new() };
    let lds = match kernel.dynamic_lds_bytes {
        Some(_) => format!("{lds_bytes} bytes of LDS"),
        None => format!("{lds_bytes} bytes of LDS beside what launches add"),
    };
    let spills = match (kernel.vgpr_spills, kernel.sgpr_spills) {
        (0, 0) => String::new(),
        (vector, scalar) => format!(" ({vector} vector and {scalar} scalar registers are spilled)"),
    };
    let limit = kernel.limited_by.map_or_else(String::new, |limit| format!(", limited by {limit}"));
    format!(
        "`{name}`: {vgprs} vector registers{accumulation} a work-item, {sgprs} scalar registers a wave, {lds} a block of up to \
         {} work-items, {scratch_bytes} bytes of scratch a work-item{spills}; a SIMD holds {occupancy} waves{limit}",
        kernel.max_block
    )
}
