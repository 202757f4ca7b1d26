//! Pads the rows of a two-dimensional array in LDS, so that a column lies in different banks.

use crate::catalog::block::value_everywhere;
use crate::catalog::code::{Code, Kernel, inside, of_kind};
use crate::catalog::edit::replace;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require};
use crate::catalog::threads::Spread;

/// Banks of LDS on CDNA3, each four bytes wide.
pub(super) const BANKS: i64 = 32;
/// LDS of a block in bytes on CDNA3.
pub(super) const LDS_BYTES: i64 = 65_536;

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let (array, rows, columns) = (place.capture("array")?, place.capture("rows")?, place.capture("columns")?);
    let name = code.of(array);
    let width = value_everywhere(code, kernel, columns);
    let Some((rows_now, width)) = value_everywhere(code, kernel, rows).zip(width) else {
        return Err(Refusal::RuledOut(format!("the size of `{name}` is not known from the text")));
    };
    if width % 16 != 0 {
        return Err(Refusal::NotHere);
    }
    require(is_indexed_twice(code, kernel, name), format!("`{name}` is used as a whole or by a pointer into it"))?;
    require(runs_down_columns(code, kernel, name), format!("no access to `{name}` runs down a column"))?;
    let bytes = element_bytes(code.type_of(place.capture("declaration")?));
    let grown = rows_now * (width + 1) * bytes;
    require(
        grown <= LDS_BYTES && width * bytes / 4 % (BANKS / 2) == 0,
        format!("`{name}` would not fit or has no conflicts"),
    )?;
    let padded = match columns.kind() {
        "identifier" | "number_literal" => format!("{} + 1", code.of(columns)),
        _ => format!("({}) + 1", code.of(columns)),
    };
    let report = format!("Padded the rows of `{name}` by one element ({} bytes of LDS more).", rows_now * bytes);
    Ok(Offer::one(place, name, array, Change::new(vec![replace(columns, padded)], report)))
}

/// Bytes of a type that arrays in LDS are made of; 4 where it is not known, which only bounds the size.
pub(super) fn element_bytes(name: &str) -> i64 {
    match name {
        "double" | "long" | "float2" | "int2" | "size_t" | "uint64_t" | "int64_t" => 8,
        "float4" | "int4" | "double2" => 16,
        "char" | "unsigned char" | "uint8_t" | "int8_t" | "bool" => 1,
        "short" | "half" | "__half" | "_Float16" | "uint16_t" | "int16_t" => 2,
        _ => 4,
    }
}

/// Whether an array is only ever used as `array[..][..]`.
pub(super) fn is_indexed_twice(code: &Code, kernel: &Kernel<'_>, name: &str) -> bool {
    code.uses(kernel.body, name).into_iter().all(|node| {
        if node.parent().is_some_and(|parent| parent.kind() == "array_declarator") {
            return true;
        }
        let row = node.parent().filter(|parent| parent.kind() == "subscript_expression");
        let element = row.and_then(|row| {
            row.parent().filter(|parent| parent.kind() == "subscript_expression" && parent.named_child(0) == Some(row))
        });
        let is_addressed = element
            .and_then(|element| element.parent())
            .is_some_and(|parent| parent.kind() == "pointer_expression" || parent.kind() == "sizeof_expression");
        element.is_some() && !is_addressed
    })
}

/// Whether neighbouring threads reach different rows of an array at once.
pub(super) fn runs_down_columns(code: &Code, kernel: &Kernel<'_>, name: &str) -> bool {
    let along_x = Spread::of(code, kernel, &["threadIdx.x"], &[]);
    of_kind(kernel.body, "subscript_expression").into_iter().any(|row| {
        let is_row = row.child_by_field_name("argument").is_some_and(|argument| code.of(argument) == name);
        let index = row.child_by_field_name("indices");
        is_row && index.is_some_and(|index| inside(index, row) && along_x.reaches(code, index))
    })
}
