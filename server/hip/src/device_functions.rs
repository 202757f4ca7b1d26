//! What is known of device functions that no file defines: HIP's own, the math library's, the compiler's.
//!
//! The one place for words that say something of the work-items around the one that runs:
//! - [`is_exchange`]: work-items wait for each other or hand values over (barriers, votes, shuffles, cooperative groups);
//! - [`knows_numbering`]: the result depends on which number a work-item has in its wavefront or block, beside what
//!   `threadIdx` and its kin say (all exchanges but a block's plain barrier, and lane numbers);
//! - [`is_atomic`]: memory shared with other work-items is changed in one step, and nobody is waited for;
//! - [`is_independent`]: known to concern one work-item alone.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Math functions without their `f`, `l` and `__` forms (HIP programming guide, "Math API").
const MATH: &str = "abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi cyl_bessel_i0 \
    cyl_bessel_i1 div_rn divide erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fdim fdivide floor fma fmax fmin fmod \
    frexp hypot ilogb isfinite isinf isnan j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround max min \
    modf nan nearbyint nextafter norm norm3d norm4d normcdf normcdfinv pow powi rcbrt remainder remquo rhypot rint rnorm \
    rnorm3d rnorm4d round rsqrt saturate scalbln scalbn signbit sin sincos sincospi sinh sinpi sqrt tan tanh tgamma trunc y0 y1 \
    yn labs llabs umin umax ullmin ullmax llmin llmax fsqrt_rn fadd_rn fmul_rn fsub_rn fmaf_rn frcp_rn frsqrt_rn fdiv_rn \
    sqrt_rn rcp_rn add_rn mul_rn sub_rn dadd_rn dmul_rn dsub_rn ddiv_rn drcp_rn dsqrt_rn fma_rn swap clamp lerp mad";

/// Other functions that concern one work-item alone (the atomics order memory, but wait for nobody).
const OTHERS: &str = "printf assert __assert_fail trap abort __trap clock clock64 wall_clock64 __clock64 __clock \
    __popc __popcll __clz __clzll __ffs __ffsll __brev __brevll __mul24 __umul24 __mulhi __umulhi __mul64hi __umul64hi \
    __sad __usad __hadd __rhadd __uhadd __urhadd __byte_perm __funnelshift_l __funnelshift_r __funnelshift_lc \
    __funnelshift_rc __bitextract_u32 __bitextract_u64 __bitinsert_u32 __bitinsert_u64 __fns32 __fns64 __lastbit_u32_u32 \
    __ldg __ldcg __ldca __ldcs __ldlu __ldcv __stwb __stcg __stcs __stwt __threadfence __threadfence_block \
    __threadfence_system __lane_id __smid memcpy memset memmove strlen strcpy malloc free __builtin_nontemporal_load \
    __builtin_nontemporal_store __builtin_assume __builtin_expect __builtin_unreachable __builtin_assume_aligned \
    __builtin_popcount __builtin_popcountll __builtin_clz __builtin_clzll __builtin_ctz __builtin_ctzll __builtin_ffs \
    __builtin_memcpy __builtin_bit_cast __builtin_convertvector __builtin_shufflevector __builtin_fabsf __builtin_fmaf \
    __builtin_isnan __builtin_inff __builtin_huge_valf __builtin_nanf __builtin_elementwise_max __builtin_elementwise_min \
    __builtin_elementwise_abs threadIdx blockIdx blockDim gridDim dim3 hipThreadIdx_x hipBlockIdx_x get make_tuple make_pair \
    forward move declval bit_cast real imag conj hipCadd hipCsub hipCmul hipCdiv hipCabs hipCfma hipCaddf hipCsubf hipCmulf \
    hipCdivf hipCabsf hipCfmaf make_hipComplex make_hipFloatComplex make_hipDoubleComplex hipCreal hipCrealf hipCimag \
    hipCimagf numeric_limits infinity lowest epsilon quiet_NaN is_same is_same_v HIP_DYNAMIC_SHARED \
    hipGetBlockDim hipGetThreadIdx __hmul __hsub __hdiv __hfma __hneg __habs __hadd2 __hmul2 __hsub2 __hfma2 __h2div __hneg2 \
    __heq __hne __hlt __hle __hgt __hge __hmax __hmin __hisnan __hisinf hexp hexp2 hlog hlog2 hsqrt hrsqrt hrcp hsin hcos \
    hfloor hceil hrint htrunc h2exp h2sqrt h2rsqrt h2rcp __low2half __high2half __low2float __high2float __halves2half2 \
    __lows2half2 __highs2half2 __lowhigh2highlow __low2half2 __high2half2 __half2half2 __half22float2 __float22half2_rn \
    __hadd_sat __hmul_sat __hsub_sat";

/// Keywords that may stand before a parenthesis.
const KEYWORDS: &str = "if for while switch return sizeof alignof decltype static_cast reinterpret_cast const_cast \
    dynamic_cast static_assert alignas __align__ __attribute__ __launch_bounds__ noexcept else do case typeid constexpr \
    auto template typename operator defined requires throw _Pragma __pragma __declspec new delete co_return and or not";

/// Words that are types or parts of types.
const TYPES: &str = "void bool char short int long float double unsigned signed size_t ptrdiff_t half __half __half2 half2 \
    _Float16 uint ushort uchar ulong hipFloatComplex hipDoubleComplex hipComplex __hip_bfloat16 hip_bfloat16 __hip_bfloat162 \
    bfloat16 __hip_fp8_e4m3_fnuz __hip_fp8_e4m3 pair tuple array complex integral_constant clock_t uintptr_t intptr_t";

fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_ascii_whitespace().collect()
}

static MATH_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| set(MATH));
static OTHER_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| set(OTHERS));
static KEYWORD_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| set(KEYWORDS));
static TYPE_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| set(TYPES));

/// `word` is a keyword that may stand before a parenthesis without being a call.
pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORD_SET.contains(word)
}

/// `word` names a type of the language or of HIP.
pub(crate) fn is_type(word: &str) -> bool {
    let fixed_width = word.ends_with("_t") && word.contains("int");
    TYPE_SET.contains(word) || fixed_width || is_vector_type(word)
}

/// `float4`, `uint2`, `longlong1`.
pub(crate) fn is_vector_type(word: &str) -> bool {
    let element = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let count = &word[element.len()..];
    let element = element.trim_start_matches('u');
    matches!(count, "1" | "2" | "3" | "4" | "8" | "16")
        && matches!(element, "char" | "short" | "int" | "long" | "longlong" | "float" | "double" | "half")
}

/// `word` is a function that no file defines and of which it is known that it concerns one work-item alone.
pub fn is_independent(word: &str) -> bool {
    let plain = word.trim_start_matches("__");
    let stem = plain.strip_suffix(['f', 'l']).unwrap_or(plain);
    MATH_SET.contains(plain)
        || MATH_SET.contains(stem)
        || OTHER_SET.contains(word)
        || is_atomic(word)
        || word.starts_with("make_") && is_vector_type(&word[5..])
        || is_conversion(word)
        || ["tex1D", "tex2D", "tex3D", "texCubemap", "surf1D", "surf2D", "surf3D"].iter().any(|p| word.starts_with(p))
        || is_independent_builtin(word)
}

/// `word` is an atomic operation on memory.
pub fn is_atomic(word: &str) -> bool {
    ["atomic", "unsafeAtomic", "safeAtomic", "__hip_atomic_", "__atomic_", "__sync_"]
        .iter()
        .any(|p| word.starts_with(p))
}

/// `__float2half_rn`, `__int_as_float`, `__double2int_rz`, `__bfloat162float`.
fn is_conversion(word: &str) -> bool {
    let Some(plain) = word.strip_prefix("__") else { return false };
    let from =
        ["float", "double", "int", "uint", "ll", "ull", "half", "short", "ushort", "longlong", "bfloat16", "hiloint"];
    from.iter()
        .any(|from| plain.strip_prefix(from).is_some_and(|rest| rest.starts_with('2') || rest.starts_with("_as_")))
}

fn is_independent_builtin(word: &str) -> bool {
    let Some(builtin) = word.strip_prefix("__builtin_amdgcn_") else { return false };
    let independent = [
        "workitem_id",
        "workgroup_id",
        "workgroup_size",
        "grid_size",
        "s_memtime",
        "s_memrealtime",
        "rcp",
        "rsq",
        "sqrt",
        "fmed3",
        "sad_",
        "perm",
        "cvt_",
        "ubfe",
        "sbfe",
        "alignbit",
        "alignbyte",
        "exp2",
        "log",
        "sin",
        "cos",
        "fract",
        "ldexp",
        "frexp",
        "class",
        "div_",
        "trig_preop",
        "fmul_legacy",
        "fdot2",
        "sdot",
        "udot",
        "lerp",
        "wavefrontsize",
        "mbcnt_",
        "msad_",
        "raw_buffer_",
        "make_buffer_rsrc",
        "global_load_lds",
        "global_atomic_",
        "flat_atomic_",
        "ds_atomic_",
        "ds_fadd",
        "ds_fmin",
        "ds_fmax",
        "atomic_inc",
        "atomic_dec",
        "fence",
        "buffer_wbinvl1",
        "s_dcache_",
        "s_setprio",
        "s_sleep",
        "s_waitcnt",
        "sched_",
        "iglp_opt",
    ];
    // A cross-lane permute shares its prefix with the byte permute.
    let crosses = ["permlane"].iter().any(|prefix| builtin.starts_with(prefix));
    !crosses && independent.iter().any(|prefix| builtin.starts_with(prefix))
}

/// `word` alone shows that work-items wait for or hand values to each other, or that nobody can tell.
pub fn is_exchange(word: &str) -> bool {
    let prefixes = [
        "__syncthreads",
        "__shfl",
        "__ballot",
        "__any",
        "__all",
        "__activemask",
        "__syncwarp",
        "__match_",
        "__reduce_",
        "__barrier",
        "__work_group_barrier",
        "__builtin_amdgcn_",
        "__builtin_nvvm",
        "__llvm_amdgcn",
        "__ockl_",
        "__nvvm_",
        "cooperative_groups",
        "__hip_ds_",
        "__hip_move_dpp",
        "__hip_cg",
    ];
    prefixes.iter().any(|prefix| word.starts_with(prefix)) && !is_independent_builtin(word)
        || matches!(
            word,
            "asm"
                | "__asm__"
                | "__asm"
                | "volatile"
                | "__volatile__"
                | "goto"
                | "this_thread_block"
                | "this_grid"
                | "this_multi_grid"
                | "this_thread"
                | "tiled_partition"
                | "binary_partition"
                | "coalesced_threads"
                | "coalesced_group"
                | "thread_block"
                | "thread_block_tile"
                | "thread_group"
                | "tiled_group"
                | "grid_group"
                | "multi_grid_group"
                | "wmma"
        )
}

/// Other names for a work-item's number, its lane, or the size of a wavefront.
const NUMBERS: &[&str] = &[
    "warpSize",
    "__lane_id",
    "hipThreadIdx",
    "hipBlockDim",
    "hipGetThreadIdx",
    "hipGetBlockDim",
    "__builtin_amdgcn_workitem_id",
    "__builtin_amdgcn_workgroup_size",
    "__builtin_amdgcn_grid_size",
    "__builtin_amdgcn_wavefrontsize",
    "__builtin_amdgcn_mbcnt",
    "__builtin_amdgcn_global_load_lds",
];

/// `word` alone shows that a kernel depends on how its work-items are numbered or stand in wavefronts: give a work-item
/// another number, and something else comes out. A block's plain barrier does not, nor do the parts of `threadIdx`, which
/// whoever numbers anew replaces.
pub fn knows_numbering(word: &str) -> bool {
    let plain_barrier = word == "__syncthreads";
    is_exchange(word) && !plain_barrier || NUMBERS.iter().any(|prefix| word.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_they_know_of_other_work_items() {
        let check = |word: &str, exchange: bool, numbering: bool| {
            assert_eq!((is_exchange(word), knows_numbering(word)), (exchange, numbering), "{word}");
            assert!(!(exchange && is_independent(word)), "{word} cannot be both");
        };
        check("__syncthreads", true, false);
        check("__syncthreads_count", true, true);
        check("__shfl_down_sync", true, true);
        check("__builtin_amdgcn_ds_bpermute", true, true);
        check("__builtin_amdgcn_workitem_id_x", false, true);
        check("__builtin_amdgcn_rcpf", false, false);
        check("__builtin_amdgcn_mbcnt_lo", false, true);
        check("__builtin_amdgcn_global_load_lds", false, true);
        check("__builtin_amdgcn_mfma_f32_32x32x8f16", true, true);
        check("warpSize", false, true);
        check("__lane_id", false, true);
        check("cooperative_groups", true, true);
        check("atomicAdd", false, false);
        check("sqrtf", false, false);
        check("volatile", true, true);
    }

    #[test]
    fn whole_wave_functions_are_exchanges_and_nothing_else_of_the_compiler_is() {
        let exchanges = "__builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8 __builtin_amdgcn_mfma_f64_4x4x4f64 \
            __builtin_amdgcn_smfmac_i32_16x16x64_i8 __builtin_amdgcn_readfirstlane __builtin_amdgcn_readlane \
            __builtin_amdgcn_ds_bpermute __builtin_amdgcn_ds_permute __builtin_amdgcn_ds_swizzle __builtin_amdgcn_mov_dpp \
            __builtin_amdgcn_update_dpp __builtin_amdgcn_ballot_w64 __builtin_amdgcn_ballot_w32 __builtin_amdgcn_read_exec \
            __builtin_amdgcn_read_exec_lo __builtin_amdgcn_uicmp __builtin_amdgcn_sicmpl __builtin_amdgcn_fcmpf \
            __builtin_amdgcn_s_barrier __builtin_amdgcn_wave_barrier __hip_ds_swizzle __hip_ds_swizzlef_N __hip_ds_permutef \
            __hip_ds_bpermute __hip_move_dpp __match_any __match_all_sync __reduce_add_sync __shfl_sync __ballot_sync \
            __any_sync __all_sync __activemask __syncthreads_count __syncwarp";
        for word in exchanges.split_ascii_whitespace() {
            assert!(is_exchange(word) && !is_independent(word), "{word}");
        }
        let alone = "__builtin_amdgcn_mbcnt_lo __builtin_amdgcn_perm __builtin_amdgcn_sched_group_barrier \
            __builtin_amdgcn_sdot4 __builtin_amdgcn_raw_buffer_load_b128 __builtin_amdgcn_global_atomic_fadd_f32 \
            __builtin_amdgcn_cvt_pkrtz __builtin_amdgcn_classf __builtin_amdgcn_workitem_id_x __lane_id";
        for word in alone.split_ascii_whitespace() {
            assert!(!is_exchange(word) && is_independent(word), "{word}");
        }
    }
}
