//! The lines that the command line prints: other programs read them, so that their names are a contract.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod script;

use std::collections::BTreeMap;

use lab::Failure;
use scientist::evolution::event::Event;
use script::*;
use serde_json::Value;

/// Every event of a run with something of everything.
fn events() -> Vec<Event> {
    let (_folder, notebook) = notebook();
    let mut same = offer("same:s", 1, 0.0, 1.0);
    same.drafts = vec!["// nothing".into()];
    let mut none = offer("none:n", 90, 0.0, 1.0);
    none.drafts = vec![String::new()];
    let offers = vec![offer("good:a", 10, 5.0, 30.0), offer("bad:b", 80, 5.0, 30.0), same, none];
    let world =
        World::new(offers, &[("good:a", [1.2; 3])]).failing("bad:b", Failure::Wrong { detail: "out[0]".into() });
    let mut all = start(&world, &notebook, generations(2)).1;
    world.interfere(|kind, _| (kind == "time").then(|| lab::LabError::Unavailable("no device".into())));
    all.extend(start(&world, &notebook, generations(1)).1);
    all
}

#[test]
fn every_event_reads_as_it_was_written() {
    for event in events() {
        let line = serde_json::to_string(&event).unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event, "{line}");
    }
}

#[test]
fn the_fields_of_every_event_are_these() {
    let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in events() {
        let Value::Object(mut line) = serde_json::to_value(&event).unwrap() else { panic!("{event:?}") };
        let mut name = line.remove("event").unwrap().as_str().unwrap().to_owned();
        if let Some(outcome) = line.get("outcome") {
            name = format!("{name} {}", outcome.as_str().unwrap());
        }
        fields.insert(name, line.keys().cloned().collect());
    }
    let found: Vec<String> = fields.iter().map(|(name, fields)| format!("{name}: {}", fields.join(" "))).collect();
    let expected = [
        "candidate: against_original against_parent candidate failure generation parent reference steps summary times verdict",
        "confirmed: candidate confirmed failure shapes speed verdict",
        "designed: avenues base generation plans problem",
        "experiment duplicate: draft duplicate_of generation key kind of outcome report title took_s",
        "experiment failed: draft failure generation key kind of outcome report title took_s",
        "experiment measured: draft generation key kind of outcome report speed title took_s verdict",
        "experiment not_written: draft generation key kind of outcome reason report title took_s",
        "finding: about calibration generation measured_percent predicted text",
        "finished: best calibration candidates confirmed duplicates experiments failed generations reason run shapes \
         speedup speedup_high speedup_low spent_s spent_tokens spent_usd state",
        "generation: best best_high best_low best_ratio estimate_s generation of remaining_s spent_s spent_tokens spent_usd",
        "paused: message",
        "selected: base generation reason reference",
        "started: budget device file kernel provider resumed run seed",
        "working: doing generation",
    ];
    assert_eq!(found, expected);
}
