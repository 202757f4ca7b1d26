//! What an evolution would be done with and what it would cost, before it is begun.

use std::sync::Arc;

use hip_syntax::Syntax;
use lab::Source;
use lab::benchmark::{self, Benchmark};
use llm::LlmError;

use super::commands::Target;
use super::outcome::Outcome;
use super::protocol::{FedBy, Plan, PlanParams};
use super::session::Session;
use super::work::{Assignment, Work};
use crate::cli::provider::Provider;
use crate::models::{ModelNames, Models};

/// Answers a request for a plan.
pub async fn plan(session: &Arc<Session>, params: PlanParams) -> Result<Plan, String> {
    let session = Arc::clone(session);
    let work = move || {
        let target = Target { uri: params.uri, kernel: params.kernel };
        session.state().require_trust(Work::Evolve.name())?;
        let (_, assignment) = session.assigned(target, Work::Evolve)?;
        Ok(assignment.plan())
    };
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

impl Assignment {
    fn plan(&self) -> Plan {
        let mut plan = Plan {
            provider: String::new(),
            is_rule_based: false,
            generations: self.settings.generations,
            fed_by: fed_by(&self.source, self.kernel.as_deref()),
            missing_key: None,
            estimate: None,
            problem: None,
        };
        match self.provider() {
            Ok(provider) => {
                plan.provider = provider.name();
                match provider {
                    Provider::Catalog => plan.is_rule_based = true,
                    Provider::Models(names) => self.plan_models(&names, &mut plan),
                }
            }
            Err(outcome) => plan.problem = Some(in_words(outcome)),
        }
        plan
    }

    fn plan_models(&self, names: &ModelNames, plan: &mut Plan) {
        let config = match self.config() {
            Ok(config) => config,
            Err(outcome) => return plan.problem = Some(in_words(outcome)),
        };
        let models = match Models::connect(names, &self.reach(0), &config) {
            Ok(models) => models,
            Err(LlmError::NoKey { who, remedy }) => {
                plan.missing_key = who.split(':').next().map(str::to_owned);
                return plan.problem = Some(format!("{who} needs a key: {remedy}"));
            }
            Err(error) => return plan.problem = Some(error.to_string()),
        };
        match self.estimate(&config, &models) {
            Ok(estimate) => plan.estimate = Some(estimate),
            Err(outcome) => plan.problem = Some(in_words(outcome)),
        }
    }
}

/// How the lab would feed a kernel of the source.
fn fed_by(source: &Source, kernel: Option<&str>) -> FedBy {
    if Benchmark::path_for(&source.path).is_file() {
        return FedBy::BenchmarkFile;
    }
    let syntax = Syntax::without_tree(source.text.clone());
    if syntax.functions().iter().any(|function| function.name == "main") {
        return FedBy::Program;
    }
    match benchmark::infer(&syntax, kernel) {
        Ok(_) => FedBy::Signature,
        Err(_) => FedBy::Nothing,
    }
}

fn in_words(outcome: Outcome) -> String {
    match outcome {
        Outcome::Failed(failure) => failure.to_string(),
        Outcome::Error(why) => why,
        _ => "cancelled".into(),
    }
}
