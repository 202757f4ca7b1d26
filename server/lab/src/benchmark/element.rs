//! Element types that buffers and scalars may have.

use super::Tolerance;

/// What the harness fills and compares: a number type, and how many of them make an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// The type as C++ has it, such as `float4`.
    pub cpp: String,
    /// Type of one lane.
    pub lane: ElementType,
    /// Lanes of an element: 1, or 2 to 4 for the vector types.
    pub lanes: u32,
}

/// Number types of the harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// IEEE half precision.
    F16,
    /// bfloat16.
    BF16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// `bool`.
    Bool,
}

use ElementType::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

/// Types by the names that HIP code uses for them.
const NAMES: [(&str, ElementType); 43] = [
    ("float", F32),
    ("double", F64),
    ("int", I32),
    ("unsigned", U32),
    ("unsigned int", U32),
    ("uint", U32),
    ("half", F16),
    ("__half", F16),
    ("_Float16", F16),
    ("hip_bfloat16", BF16),
    ("__hip_bfloat16", BF16),
    ("char", I8),
    ("signed char", I8),
    ("unsigned char", U8),
    ("uchar", U8),
    ("short", I16),
    ("unsigned short", U16),
    ("ushort", U16),
    ("long", I64),
    ("unsigned long", U64),
    ("ulong", U64),
    ("long long", I64),
    ("unsigned long long", U64),
    ("unsigned long long int", U64),
    ("size_t", U64),
    ("std::size_t", U64),
    ("ptrdiff_t", I64),
    ("int8_t", I8),
    ("int16_t", I16),
    ("int32_t", I32),
    ("int64_t", I64),
    ("uint8_t", U8),
    ("uint16_t", U16),
    ("uint32_t", U32),
    ("uint64_t", U64),
    ("std::int32_t", I32),
    ("std::int64_t", I64),
    ("std::uint8_t", U8),
    ("std::uint32_t", U32),
    ("std::uint64_t", U64),
    ("longlong", I64),
    ("ulonglong", U64),
    ("bool", Bool),
];

/// Names that have vector forms: `float2`, `uchar4`.
const WITH_VECTORS: [&str; 12] =
    ["float", "double", "int", "uint", "char", "uchar", "short", "ushort", "long", "ulong", "longlong", "ulonglong"];

impl Element {
    /// The element type called `name` in C++; `None` where the harness does not know it.
    pub fn parse(name: &str) -> Option<Self> {
        let cpp = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let find = |name: &str| NAMES.iter().find(|(known, _)| *known == name).map(|(_, lane)| *lane);
        // `longlong` and `ulonglong` are no C++ types by themselves, only with a number of lanes.
        if let Some(lane) = find(&cpp).filter(|_| !cpp.ends_with("longlong")) {
            return Some(Self { cpp, lane, lanes: 1 });
        }
        let base = cpp.strip_suffix(['2', '3', '4']).filter(|base| WITH_VECTORS.contains(base))?;
        let lanes = cpp.as_bytes().last().map_or(1, |digit| u32::from(digit - b'0'));
        find(base).map(|lane| Self { cpp: cpp.clone(), lane, lanes })
    }

    /// Names to choose from, for messages.
    pub fn known() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name).filter(|name| !name.ends_with("longlong"))
    }
}

impl ElementType {
    /// The harness' word for it.
    pub fn code(self) -> &'static str {
        match self {
            F16 => "f16",
            BF16 => "bf16",
            F32 => "f32",
            F64 => "f64",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            U64 => "u64",
            Bool => "bool",
        }
    }

    /// Whether it has a fraction.
    pub fn is_floating(self) -> bool {
        matches!(self, F16 | BF16 | F32 | F64)
    }

    /// What is allowed where the file says nothing: room for another order of summation, none for integers.
    pub fn default_tolerance(self) -> Tolerance {
        let (relative, absolute) = match self {
            F16 => (1e-2, 1e-3),
            BF16 => (3e-2, 1e-2),
            F32 => (1e-4, 1e-5),
            F64 => (1e-9, 1e-11),
            _ => (0.0, 0.0),
        };
        Tolerance { relative, absolute }
    }
}
