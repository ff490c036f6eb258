//! Passes that differ on account of data: which way a branch goes, or a size. Passes that do the same are a class, and each
//! class is bound at once.
//!
//! The order of passes does not matter, since none reads what another one writes: the record of who reads and writes goes
//! on from class to class.

use super::Interpreter;
use super::lanes::{Attempt, Outer, Passes};
use crate::value::Value;
use octopus_stan::VariableId;
use std::collections::HashMap;
use std::sync::Arc;

/// Classes of a loop's passes.
const MOST_CLASSES: usize = 64;
/// Classes on a draw, where the attempts of each draw take their time.
const MOST_CLASSES_ON_DRAW: usize = 8;

impl Interpreter<'_> {
    /// Binds all passes, class by class. Where that fails, all is as before; returns the first pass that branches in
    /// another way than the ones before it, if that was the reason.
    pub(super) fn in_classes(
        &mut self,
        passes: &Passes<'_>,
        outer: HashMap<VariableId, Outer>,
    ) -> Result<(), Option<usize>> {
        let (values, mark, budget) = (self.values.clone(), self.graph.mark(), self.budget);
        let first_target = self.target.len();
        // More classes than half of the passes are not worth their attempts.
        let most = if self.is_on_draw { MOST_CLASSES_ON_DRAW } else { MOST_CLASSES }.min(passes.count / 2);
        let (mut outer, mut split, mut count) = (outer, None, 1);
        let mut open = vec![passes.all()];
        let mut last_values: HashMap<VariableId, (u32, Value)> = HashMap::new();
        while let Some(class) = open.pop() {
            let before = (self.values.clone(), self.graph.mark());
            match self.attempt(passes, &class, outer.clone(), None, before) {
                Attempt::Bound(after) => {
                    outer = after;
                    self.note_last_values(&class, &mut outer, &mut last_values);
                }
                Attempt::Failed(failure) => {
                    if count == 1 {
                        split = failure.split;
                    }
                    let parts = parts(&class, &failure.outcomes.unwrap_or_default());
                    count += parts.len().saturating_sub(1);
                    if parts.len() < 2 || count > most {
                        self.values = values;
                        self.forget_terms(first_target);
                        self.graph.rewind(&mark);
                        self.budget.restore_variables(budget);
                        return Err(split);
                    }
                    open.extend(parts.into_iter().rev());
                }
            }
        }
        for (id, (_, value)) in last_values {
            self.values[id.0] = Some(value);
        }
        Ok(())
    }

    /// Keeps what the last pass of a class leaves in variables that passes write as a whole, if no later pass has written.
    fn note_last_values(
        &self,
        class: &[u32],
        outer: &mut HashMap<VariableId, Outer>,
        last_values: &mut HashMap<VariableId, (u32, Value)>,
    ) {
        let last = class.last().copied().unwrap_or(0);
        for (id, outer) in outer {
            if let Outer::Whole { is_written } = outer
                && std::mem::take(is_written)
                && last_values.get(id).is_none_or(|(pass, _)| *pass < last)
                && let Some(value) = &self.values[id.0]
            {
                last_values.insert(*id, (last, value.clone()));
            }
        }
    }
}

/// The passes of a class by their outcomes, in the order in which these occur first.
fn parts(class: &[u32], outcomes: &[i64]) -> Vec<Arc<[u32]>> {
    let mut places: HashMap<i64, usize> = HashMap::new();
    let mut parts: Vec<Vec<u32>> = vec![];
    for (&pass, outcome) in class.iter().zip(outcomes) {
        let at = *places.entry(*outcome).or_insert(parts.len());
        if at == parts.len() {
            parts.push(Vec::new());
        }
        parts[at].push(pass);
    }
    parts.into_iter().map(Arc::from).collect()
}
