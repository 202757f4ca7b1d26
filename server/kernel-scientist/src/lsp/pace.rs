//! How far an evolution is, in a line and in percent.

use scientist::evolution::event::Event;

/// Turns an evolution's events into a line and a percentage.
#[derive(Default)]
pub struct Pace {
    generation: u32,
    of: u32,
    /// Experiments over in this generation, of about so many.
    done: u32,
    planned: u32,
    best: Option<f64>,
    /// What was spent; `None` where nothing that costs anything is asked.
    usd: Option<f64>,
}

impl Pace {
    /// Notes what models have cost so far, in US dollars.
    pub fn spent(&mut self, usd: f64) {
        self.usd = Some(usd);
    }

    /// What an event says of it; `None` for one that says nothing.
    pub fn of(&mut self, event: &Event) -> Option<(String, Option<u32>)> {
        let doing = match event {
            Event::Working { doing, .. } => doing.clone(),
            Event::Generation { generation, of, best, best_ratio, .. } => {
                (self.generation, self.of, self.done, self.planned) = (*generation, *of, 0, 0);
                self.best = (*best != 0).then_some(*best_ratio);
                "begins".into()
            }
            Event::Designed { plans, .. } => {
                self.planned = plans.iter().filter(|plan| plan.chosen.is_some()).count() as u32;
                format!("{} experiments planned", self.planned)
            }
            Event::Finding { .. } => {
                self.done += 1;
                return None;
            }
            Event::Confirmed { .. } => {
                self.generation = self.of;
                self.done = self.planned;
                "confirming".into()
            }
            _ => return None,
        };
        Some((self.line(&doing), self.percent()))
    }

    fn line(&self, doing: &str) -> String {
        let best =
            self.best.map_or_else(|| "best so far: the original".into(), |best| format!("best so far {best:.2}x"));
        match self.generation {
            0 => doing.to_owned(),
            generation => {
                let cost = self.usd.map_or_else(String::new, |usd| format!("${usd:.2} · "));
                format!("generation {generation} of {} · {best} · {cost}{doing}", self.of)
            }
        }
    }

    fn percent(&self) -> Option<u32> {
        if self.of == 0 || self.generation == 0 {
            return Some(0);
        }
        let share =
            if self.planned == 0 { 0.0 } else { f64::from(self.done.min(self.planned)) / f64::from(self.planned) };
        // The last tenth is the confirmation's.
        Some(((f64::from(self.generation - 1) + share) / f64::from(self.of) * 90.0) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_told_where_something_costs() {
        let line = |usd: Option<f64>| {
            let mut pace = Pace::default();
            usd.into_iter().for_each(|usd| pace.spent(usd));
            let event = Event::Generation {
                generation: 2,
                of: 5,
                best: 1,
                best_ratio: 1.25,
                best_low: 1.2,
                best_high: 1.3,
                spent_s: 8.0,
                spent_usd: 0.5,
                spent_tokens: 0,
                remaining_s: None,
                estimate_s: None,
            };
            pace.of(&event).unwrap().0
        };
        assert_eq!(line(None), "generation 2 of 5 · best so far 1.25x · begins");
        assert_eq!(line(Some(0.5)), "generation 2 of 5 · best so far 1.25x · $0.50 · begins");
    }
}
