//! The catalog's stages on populations made by hand.

use std::sync::Arc;

use lab::{Cancel, Failure, SpeedRatio};

use super::Catalog;
use crate::stages::{
    DesignBrief, Designer, Finding, GainRange, Hypothesis, Member, Population, Selector, StageError, WriteBrief, Writer,
};

const SUMS: &str = "#define BLOCK 256
__global__ void sums(const float* x, float* out, int n) {
    __shared__ float part[BLOCK];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += BLOCK) sum += x[blockIdx.x * n + i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
void run(const float* x, float* out, int rows, int n) { sums<<<rows, BLOCK>>>(x, out, n); }
";

fn member(id: u32, parent: Option<u32>, steps: &[&str], ratio: Option<f64>, times: &[(&str, f64)]) -> Member {
    Member {
        id,
        parent,
        reference: None,
        generation: steps.len() as u32,
        text: Arc::from(SUMS),
        steps: steps.iter().map(|step| (*step).to_owned()).collect(),
        summary: String::new(),
        times: times.iter().map(|(shape, time)| ((*shape).to_owned(), *time)).collect(),
        against_parent: None,
        against_original: ratio.map(|ratio| SpeedRatio { ratio, low: ratio, high: ratio }),
        verdict: None,
        failure: None,
    }
}

fn failed(mut member: Member) -> Member {
    member.failure = Some(Failure::Wrong { detail: "out[0]".into() });
    member
}

fn keys(plans: &[Hypothesis]) -> Vec<&str> {
    plans.iter().map(|plan| plan.key.as_str()).collect()
}

fn design(population: &Population, findings: &[Finding], tried: &[String]) -> crate::stages::Design {
    let (_, mut designer, _) = Catalog::load().stages();
    let base = &population.members[0];
    let brief = DesignBrief { base, population, findings, tried, past: &[], kernel: None, forecast: &[] };
    designer.design(&brief, &Cancel::new()).expect("a design")
}

#[test]
fn a_design_has_five_plans_of_different_hypotheses_and_up_to_ten_avenues() {
    let population = Population { members: vec![member(0, None, &[], None, &[("n", 1.0)])] };
    let design = design(&population, &[], &[]);
    assert_eq!(design.plans.len(), 5, "{:?}", keys(&design.plans));
    let mut names: Vec<&str> = keys(&design.plans).iter().map(|key| crate::designer::name_of(key)).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 5, "{:?}", keys(&design.plans));
    assert!((5..=10).contains(&design.avenues.len()), "{:#?}", design.avenues);
}

#[test]
fn what_was_tried_or_failed_is_not_planned_again() {
    let coarsen = "coarsen:sums/x";
    let original = || member(0, None, &[], None, &[("n", 1.0)]);
    let untouched = Population { members: vec![original()] };
    assert!(keys(&design(&untouched, &[], &[]).plans).contains(&coarsen));
    assert!(!keys(&design(&untouched, &[], &[coarsen.to_owned()]).plans).contains(&coarsen));
    let with_failure = Population { members: vec![original(), failed(member(1, Some(0), &[coarsen], None, &[]))] };
    assert!(!keys(&design(&with_failure, &[], &[]).plans).contains(&coarsen));
}

#[test]
fn ranges_move_towards_what_was_measured() {
    let population = Population { members: vec![member(0, None, &[], None, &[("n", 1.0)])] };
    let finding = |measured_percent| Finding {
        author: None,
        about: "coarsen".into(),
        predicted: GainRange { min_percent: 5.0, max_percent: 120.0 },
        measured_percent,
        forecast_percent: None,
        text: String::new(),
        tried: Vec::new(),
    };
    let of = |findings: &[Finding]| {
        let plans = design(&population, findings, &[]).plans;
        plans.iter().find(|plan| plan.key == "coarsen:sums/x").map(|plan| plan.gain)
    };
    let before = of(&[]).expect("planned");
    let after = of(&[finding(Some(80.0))]).expect("planned");
    assert!(after.min_percent > before.min_percent && after.max_percent < before.max_percent, "{before:?} {after:?}");
    assert_eq!(after.max_percent, f64::midpoint(before.max_percent, 80.0));
    let failed = [finding(None), finding(None), finding(Some(-40.0))];
    assert!(of(&failed).is_none_or(|gain| gain.max_percent < 40.0), "three poor results weigh three quarters");
}

#[test]
fn the_base_is_the_fastest_and_the_reference_is_strong_elsewhere() {
    let population = Population {
        members: vec![
            member(0, None, &[], None, &[("small", 10.0), ("large", 100.0)]),
            member(1, Some(0), &["coarsen:sums/x"], Some(2.0), &[("small", 9.0), ("large", 40.0)]),
            member(2, Some(0), &["block-size:sums/BLOCK"], Some(1.4), &[("small", 5.0), ("large", 90.0)]),
            failed(member(3, Some(0), &["restrict:sums"], Some(9.0), &[])),
        ],
    };
    let (mut selector, _, _) = Catalog::load().stages();
    let selection = selector.select(&population, None, &Cancel::new()).expect("a selection");
    assert_eq!((selection.base, selection.reference), (1, 2), "{}", selection.reason);
    assert!(
        selection.reason.starts_with("Rule-based:") && selection.reason.contains("`small`"),
        "{}",
        selection.reason
    );
}

#[test]
fn a_base_with_nothing_left_to_try_is_passed_over() {
    let mut finished = member(1, Some(0), &["coarsen:sums/x"], Some(3.0), &[("n", 1.0)]);
    finished.text = Arc::from("__global__ void sums(float* x) { x[0] += 1.0f; }");
    let population = Population { members: vec![member(0, None, &[], None, &[("n", 3.0)]), finished] };
    let (mut selector, _, _) = Catalog::load().stages();
    let selection = selector.select(&population, None, &Cancel::new()).expect("a selection");
    assert_eq!((selection.base, selection.reference), (0, 1), "{}", selection.reason);
}

#[test]
fn the_only_version_is_its_own_reference() {
    let population = Population { members: vec![member(0, None, &[], None, &[("n", 3.0)])] };
    let (mut selector, _, _) = Catalog::load().stages();
    let selection = selector.select(&population, None, &Cancel::new()).expect("a selection");
    assert_eq!((selection.base, selection.reference), (0, 0));
}

#[test]
fn the_writer_searches_constants_and_refuses_what_does_not_apply() {
    let population = Population { members: vec![member(0, None, &[], None, &[("n", 1.0)])] };
    let base = &population.members[0];
    let (_, _, writer) = Catalog::load().stages();
    let plans = Catalog::load().suggest(SUMS, None);
    let plan = plans.iter().find(|plan| plan.key == "block-size:sums/BLOCK").expect("a search");
    let drafts = writer.write(&WriteBrief { base, reference: base, plan }, &Cancel::new()).expect("drafts");
    let values: Vec<&str> = drafts.iter().filter_map(|draft| draft.text.lines().next()).collect();
    assert_eq!(values, ["#define BLOCK 128", "#define BLOCK 512", "#define BLOCK 64", "#define BLOCK 1024"]);

    let gone = Hypothesis { key: "lds-padding:sums/tile".into(), ..plan.clone() };
    let error = writer.write(&WriteBrief { base, reference: base, plan: &gone }, &Cancel::new());
    assert!(matches!(error, Err(StageError::Unusable(_))), "{error:?}");
    let cancel = Cancel::new();
    cancel.cancel();
    let stopped = writer.write(&WriteBrief { base, reference: base, plan }, &cancel);
    assert!(matches!(stopped, Err(StageError::Cancelled)), "{stopped:?}");
}

/// What is left to try on another kernel makes no base.
#[test]
fn the_base_has_something_left_to_try_on_the_named_kernel() {
    let mut finished = member(1, Some(0), &["coarsen:sums/x"], Some(3.0), &[("n", 1.0)]);
    finished.text =
        Arc::from(format!("{}__global__ void sums(float* x) {{ x[0] += 1.0f; }}", SUMS.replace("sums", "other")));
    let population = Population { members: vec![member(0, None, &[], None, &[("n", 3.0)]), finished] };
    let base = |kernel| {
        let (mut selector, _, _) = Catalog::load().stages();
        selector.select(&population, kernel, &Cancel::new()).expect("a selection").base
    };
    assert_eq!((base(None), base(Some("sums"))), (1, 0));
}
