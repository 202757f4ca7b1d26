//! Linker names back to what the user wrote.

use cpp_demangle::{DemangleOptions, Symbol};

/// The kernel's name with namespaces and template arguments, without return type and parameters.
///
/// Unnamed namespaces are left out, since nobody writes them. A name that is not mangled (`extern "C"`) is returned as
/// it is.
pub(super) fn kernel_name(symbol: &str) -> String {
    // What follows a dot was added by the compiler (a static kernel made visible to the host, a clone).
    let mangled = symbol.split('.').next().unwrap_or(symbol);
    let options = DemangleOptions::new().no_params().no_return_type().hide_expression_literal_types();
    let name = Symbol::new(mangled).ok().and_then(|symbol| symbol.demangle_with_options(&options).ok());
    match name {
        Some(name) => name.replace("(anonymous namespace)::", ""),
        None => mangled.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::kernel_name;

    #[test]
    fn names_read_as_they_are_written() {
        for (symbol, expected) in [
            ("_Z5plainPfi", "plain"),
            ("cname", "cname"),
            ("_ZL4statPf", "stat"),
            ("_ZL4statPf.static.7f3a", "stat"),
            ("_ZN1S2stEPi", "S::st"),
            ("_Z5neverIdEvPT_", "never<double>"),
            ("_ZN2ns12_GLOBAL__N_15tiledIfLi16EEEvPKT_PS2_i", "ns::tiled<float, 16>"),
            ("_Z2ttI3BoxfEvT_IT0_EPS2_", "tt<Box, float>"),
            ("_Z5fancyIL2Op1ELb1ELj3EJidEEvPfDpT2_", "fancy<1, true, 3, int, double>"),
        ] {
            assert_eq!(kernel_name(symbol), expected, "{symbol}");
        }
    }
}
