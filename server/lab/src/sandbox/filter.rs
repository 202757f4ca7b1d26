//! The seccomp programs, made before the child exists.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use super::forbidden::{ABSENT, Call, Condition, Deed, FIRST_UNKNOWN, calls, never_for_a_compiler};
use super::{Capabilities, Policy};
use crate::LabError;

/// The programs of one child, in the order of installing: `plain`, then `notify`, or `otherwise` if the kernel refuses
/// that one.
#[derive(Debug, Default)]
pub(super) struct Filters {
    /// Programs that answer by themselves.
    pub plain: Vec<BpfProgram>,
    /// The program that hands calls over to the listener.
    pub notify: Option<BpfProgram>,
    /// The same calls without a listener: those that are wrong in any case end in `SIGSYS`, and changes of attributes, which
    /// no file system rule covers, fail.
    pub otherwise: Vec<BpfProgram>,
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

impl Filters {
    /// The programs for `policy`; none where the kernel offers no seccomp.
    pub(super) fn new(policy: Policy, offered: Capabilities) -> Result<Self, LabError> {
        if !offered.system_call_filter {
            return Ok(Self::default());
        }
        Self::build(policy, offered.names_what_was_tried)
            .map_err(|error| LabError::Unavailable(format!("the sandbox could not be set up (seccomp): {error}")))
    }

    fn build(policy: Policy, names: bool) -> Result<Self, seccompiler::BackendError> {
        match policy {
            Policy::Compiler => {
                let rules = rules(calls().filter(|call| never_for_a_compiler(call)))?;
                let denied = compile(rules, SeccompAction::Errno(libc::EPERM as u32))?;
                Ok(Self { plain: vec![unlisted_numbers(), denied], ..Self::default() })
            }
            Policy::Candidate => {
                let absent = ABSENT.iter().map(|&number| (number, Vec::new())).collect();
                let absent = compile(absent, SeccompAction::Errno(libc::ENOSYS as u32))?;
                let wrong_in_any_case = rules(calls().filter(|call| !call.deed.needs_judgement()))?;
                let relabels = rules(calls().filter(|call| matches!(call.deed, Deed::Relabel(_))))?;
                Ok(Self {
                    plain: vec![unlisted_numbers(), absent],
                    notify: names.then(|| rules(calls()).and_then(notifying)).transpose()?,
                    otherwise: vec![
                        compile(relabels, SeccompAction::Errno(libc::EPERM as u32))?,
                        compile(wrong_in_any_case, SeccompAction::Trap)?,
                    ],
                })
            }
        }
    }
}

fn rules<'a>(calls: impl Iterator<Item = &'a Call>) -> Result<Rules, seccompiler::BackendError> {
    let mut rules = Rules::new();
    for call in calls {
        let alternatives = rules.entry(call.number).or_default();
        for condition in call.when {
            alternatives.push(SeccompRule::new(vec![translate(condition)?])?);
        }
    }
    Ok(rules)
}

fn translate(condition: &Condition) -> Result<SeccompCondition, seccompiler::BackendError> {
    // Process numbers, flags and requests are all 32 bits wide; the kernel ignores what stands above them.
    let width = SeccompCmpArgLen::Dword;
    match *condition {
        Condition::Is(argument, value) => SeccompCondition::new(argument, width, SeccompCmpOp::Eq, value),
        Condition::IsNot(argument, value) => SeccompCondition::new(argument, width, SeccompCmpOp::Ne, value),
        Condition::Bits { argument, mask, value } => {
            SeccompCondition::new(argument, width, SeccompCmpOp::MaskedEq(mask), value)
        }
    }
}

fn compile(rules: Rules, action: SeccompAction) -> Result<BpfProgram, seccompiler::BackendError> {
    SeccompFilter::new(rules, SeccompAction::Allow, action, TargetArch::try_from(std::env::consts::ARCH)?)?.try_into()
}

/// seccompiler knows no user notification: take its program that traps and change what it returns.
fn notifying(rules: Rules) -> Result<BpfProgram, seccompiler::BackendError> {
    let returns = (libc::BPF_RET | libc::BPF_K) as u16;
    let mut program = compile(rules, SeccompAction::Trap)?;
    for instruction in &mut program {
        if instruction.code == returns && instruction.k == libc::SECCOMP_RET_TRAP {
            instruction.k = libc::SECCOMP_RET_USER_NOTIF;
        }
    }
    Ok(program)
}

/// Answers calls that are newer than the list of forbidden ones with "no such call", and ends a process that calls through
/// the x32 numbers of x86-64, which go past every list of numbers. (A call through the 32-bit entry has another
/// architecture, which the other programs check.)
fn unlisted_numbers() -> BpfProgram {
    const X32_BIT: u32 = 0x4000_0000;
    let instruction = |code: u32, jt, k| sock_filter { code: code as u16, jt, jf: 0, k };
    vec![
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, 2, X32_BIT),
        instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 2, FIRST_UNKNOWN),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_KILL_PROCESS),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_fit_the_kernel_and_notify() {
        let filters = Filters::build(Policy::Candidate, true).expect("the table is valid");
        let notify = filters.notify.expect("asked for");
        assert!(notify.len() < 4096, "{} instructions", notify.len());
        let returns = |program: &BpfProgram, value: u32| program.iter().any(|i| i.code == 6 && i.k == value);
        assert!(returns(&notify, libc::SECCOMP_RET_USER_NOTIF) && !returns(&notify, libc::SECCOMP_RET_TRAP));
        assert!(filters.otherwise.iter().any(|program| returns(program, libc::SECCOMP_RET_TRAP)));
    }

    #[test]
    fn a_call_with_conditions_is_not_stopped_always() {
        for call in calls().filter(|call| call.when.is_empty()) {
            let twin = calls().find(|other| other.number == call.number && !other.when.is_empty());
            assert!(twin.is_none(), "{} is stopped always and under conditions", call.name);
        }
    }
}
