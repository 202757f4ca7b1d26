use super::*;
use crate::code::{Class, OpKind};

const HEAD: &str = "declare i32 @ks_trace_thread_x()\n@s = internal global [8 x float] undef, section \"ks_shared\"\n";

fn code_of(text: &str) -> (String, Code) {
    let mut code = Code::default();
    let text = instrument(&format!("{HEAD}{text}"), None, &mut code).unwrap();
    (text, code)
}

#[test]
fn a_copy_is_one_block_with_two_accesses() {
    let (text, code) = code_of(
        "define void @k(ptr %0, ptr %1) section \"ks_kernel\" {\n  %3 = tail call i32 @ks_trace_thread_x()\n  %4 = zext i32 %3 to i64\n  \
         %5 = getelementptr inbounds float, ptr %0, i64 %4\n  %6 = load float, ptr %5, align 4\n  \
         %7 = getelementptr inbounds float, ptr %1, i64 %4\n  store float %6, ptr %7, align 4\n  ret void\n}\n",
    );
    assert_eq!(code.functions[0].symbol, "k");
    let kinds: Vec<_> = code.blocks[0].ops.iter().map(|op| (op.kind, op.value, op.uniform)).collect();
    let address = OpKind::Compute(Class::Address);
    assert_eq!(
        kinds,
        [
            (OpKind::Free, Some(0), false),
            (OpKind::Free, Some(1), false),
            (address, Some(2), false),
            (OpKind::Load { bytes: 4 }, Some(3), false),
            (address, Some(4), false),
            (OpKind::Store { bytes: 4 }, None, false),
            (OpKind::Branch { conditional: false }, None, true),
        ]
    );
    assert_eq!(code.blocks[0].ops[5].uses, [3, 4]);
    assert!(text.contains("store ptr %5, ptr %ks.p.0.0") && text.contains("i64 3\n"), "{text}");
}

/// The classes of what a kernel's body computes.
fn classes(body: &str) -> Vec<Class> {
    let (_, code) = code_of(&format!("define void @k(i32 %0, i64 %1) section \"ks_kernel\" {{\n{body}\n}}\n"));
    let kinds = code.blocks.iter().flat_map(|block| &block.ops).map(|op| op.kind);
    kinds.filter_map(|kind| if let OpKind::Compute(class) = kind { Some(class) } else { None }).collect()
}

#[test]
fn products_of_halves_and_their_upper_half_are_one_multiplication() {
    let product = "  %3 = tail call i32 @ks_trace_thread_x()\n  %4 = zext i32 %3 to i64\n  %5 = zext i32 %0 to i64\n";
    let upper = |product: &str, by: u32| {
        classes(&format!("{product}  %7 = lshr i64 %6, {by}\n  store i64 %7, ptr @s, align 8\n  ret void"))
    };
    assert_eq!(upper(&format!("{product}  %6 = mul nuw i64 %4, %5\n"), 32), [Class::Multiply32]);
    assert_eq!(
        upper(&format!("{product}  %6 = mul nuw i64 %4, 2654435761\n"), 40),
        [Class::Multiply32, Class::Shift32]
    );
    assert_eq!(upper(&format!("{product}  %6 = mul i64 %4, %1\n"), 8), [Class::Multiply64, Class::Shift64]);
}

#[test]
fn pairs_of_numbers_in_64_bits_are_put_together_and_taken_apart_for_nothing() {
    let begin = "  %3 = tail call i32 @ks_trace_thread_x()\n  %4 = zext i32 %3 to i64\n";
    let of = |body: &str| classes(&format!("{begin}{body}\n  ret void"));
    let joined = "  %5 = shl i64 %1, 32\n  %6 = or disjoint i64 %5, %4\n  store i64 %6, ptr @s, align 8";
    assert_eq!(of(joined), []);
    assert_eq!(of(&joined.replace("32", "31")), [Class::Shift64, Class::Int64]);
    let apart = "  %5 = and i64 %1, -4294967296\n  %6 = lshr i64 %1, 32\n  store i64 %6, ptr @s, align 8";
    assert_eq!(of(apart), []);
    assert_eq!(of(&apart.replace("-4294967296", "-8")), [Class::Int64]);
}

#[test]
fn a_second_division_by_a_number_costs_less() {
    let begin = "  %3 = tail call i32 @ks_trace_thread_x()\n";
    let end = "  store i32 %5, ptr @s, align 4\n  ret void";
    let twice = format!("{begin}  %4 = udiv i32 %3, %0\n  %5 = urem i32 %4, %0\n{end}");
    assert_eq!(classes(&twice), [Class::IntDivide32, Class::IntDivideAgain32]);
    let other = format!("{begin}  %4 = udiv i32 %3, %0\n  %5 = udiv i32 %3, %4\n{end}");
    assert_eq!(classes(&other), [Class::IntDivide32, Class::IntDivide32]);
    // The divisor comes from outside of the loop; the second time it is made in the loop.
    for (divisor, expected) in [("%0", Class::IntDivideAgain32), ("%6", Class::IntDivide32)] {
        let body = format!(
            "  br label %3\n\n3:        ; preds = %3, %2\n  %4 = phi i32 [ 7, %2 ], [ %5, %3 ]\n  %6 = add i32 %4, 1\n  \
             %5 = udiv i32 %4, {divisor}\n  %7 = icmp eq i32 %5, 0\n  br i1 %7, label %8, label %3\n\n8:      ; preds = %3\n  ret void"
        );
        assert!(classes(&body).contains(&expected), "{divisor}: {:?}", classes(&body));
    }
}

#[test]
fn a_loop_comes_before_what_follows_it() {
    let (_, code) = code_of(
        "define void @k(ptr %0, i32 %1) section \"ks_kernel\" {\n  br label %4\n\n3:        ; preds = %4\n  ret void\n\n\
         4:      ; preds = %4, %2\n  %5 = phi i32 [ 0, %2 ], [ %6, %4 ]\n  %6 = add i32 %5, 1\n  store i32 %5, ptr @s, align 4\n  \
         %7 = icmp eq i32 %6, %1\n  br i1 %7, label %3, label %4\n}\n",
    );
    let ends: Vec<_> = code.blocks.iter().map(|block| block.ops.last().unwrap().kind).collect();
    let branch = |conditional| OpKind::Branch { conditional };
    assert_eq!(ends, [branch(false), branch(true), branch(false)]);
    assert_eq!(code.blocks[1].phis[0].from, [(1, 1)]);
    assert!(code.blocks[1].ops.iter().all(|op| op.uniform));
}

#[test]
fn what_is_in_an_argument_is_not_loaded() {
    let of = |parameter: &str| {
        let (_, code) = code_of(&format!(
            "define void @k(ptr noundef {parameter} align 8 %0, i32 %1) section \"ks_kernel\" {{\n  %3 = getelementptr inbounds i8, ptr %0, \
             i64 8\n  %4 = load ptr, ptr %3, align 8\n  %5 = load i32, ptr %4, align 4\n  store i32 %5, ptr @s, align 4\n  ret void\n}}\n"
        ));
        code.blocks[0].ops.iter().filter(|op| matches!(op.kind, OpKind::Load { .. })).count()
    };
    assert_eq!(of("byval(%struct.Grid)"), 1);
    assert_eq!(of("readonly"), 2);
}

#[test]
fn operations_of_halves_are_known_by_name() {
    for (call, class) in [
        (
            "zeroext i16 @ks_op_fma_f16(i16 noundef zeroext 1, i16 noundef zeroext 2, i16 noundef zeroext 3)",
            Class::Float16,
        ),
        ("i32 @ks_op_pk_fma_f16(i32 noundef 1, i32 noundef 2, i32 noundef 3)", Class::Float16x2),
        ("i32 @ks_op_pk_add_f16(i32 noundef 1, i32 noundef 2)", Class::Float16x2),
    ] {
        assert_eq!(classes(&format!("  %3 = tail call {call}\n  ret void")), [class], "{call}");
    }
}
