//! Loops whose passes read what earlier passes wrote: bound once for all passes, and closed as a scan.
//!
//! What a pass reads of earlier ones is an unknown vector, an element for each pass. After the body it is known which pass
//! writes what, so that each unknown is what stood there before the loop in the first passes, and after them what the pass
//! some steps earlier leaves. Variables that passes write as a whole, or at the same place, are each pass's own.

use super::lanes::Outer;
use super::nodes::elements_of;
use super::{Interpreter, Run, Stop};
use crate::uses::Uses;
use crate::value::{Element, Elements, Tensor, Value};
use octopus_program::{CarriedValue, GraphMark, NodeId};
use octopus_stan::{StanType, VariableId};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Elements that a variable which each pass has to itself may have.
const MOST_OWN: usize = 64;
/// Such elements in all passes together.
const MOST_OWN_IN_ALL: usize = 1 << 24;

/// What passes read of earlier ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct CarriedReads {
    /// Variables that each pass has to itself, with what they were before the loop.
    own: HashMap<VariableId, Tensor>,
    /// The unknowns of such a variable, one for each element.
    unknowns_of_own: Vec<(VariableId, Vec<NodeId>)>,
    /// Variables of which passes write elements: what they were before the loop.
    before: HashMap<VariableId, Tensor>,
    /// The unknown for an element of each pass.
    reads: HashMap<(VariableId, Vec<u32>), NodeId>,
    /// The order of the unknowns.
    order: Vec<(VariableId, Vec<u32>)>,
    /// A variable that has to be each pass's own; the attempt is made anew with it.
    pub(crate) shared: Option<VariableId>,
}

impl Interpreter<'_> {
    /// Begins a loop that carries state: what passes do with the variables from outside. None if that cannot be.
    pub(crate) fn begin_carried(
        &mut self,
        uses: &Uses,
        passes: usize,
        is_own: &HashSet<VariableId>,
    ) -> Option<(HashMap<VariableId, Outer>, CarriedReads)> {
        let (mut outer, mut carried) = (HashMap::new(), CarriedReads::default());
        // In the order of the variables, so that the graph is the same in every run.
        let mut written: Vec<VariableId> =
            uses.variables.iter().filter(|(_, usage)| usage.writes() > 0).map(|(&id, _)| id).collect();
        written.retain(|id| !uses.declared.contains(id));
        written.sort_by_key(|id| id.0);
        for id in written {
            let (usage, value) = (uses.variables[&id], self.values[id.0].clone()?);
            let ty = self.program.variables[id.0].ty;
            if ty.is_int() {
                outer.insert(
                    id,
                    match (usage.whole, usage.elements, usage.sums) {
                        (_, 0, 0) => Outer::Whole { is_written: false },
                        (0, _, 0) => Outer::elements(value.count()),
                        _ => return None,
                    },
                );
                continue;
            }
            let tensor = self.tensor(&value).with_type(ty);
            let is_sum = usage.whole == 0 && usage.elements == 0 && usage.reads == 0 && tensor.is_scalar();
            if is_sum {
                outer.insert(id, Outer::Sum);
            } else if is_own.contains(&id) || usage.whole + usage.sums > 0 {
                let count = tensor.count();
                if tensor.laned || count > MOST_OWN || count * passes > MOST_OWN_IN_ALL {
                    return None;
                }
                let unknowns: Vec<NodeId> = (0..count).map(|_| self.graph.unknown(passes)).collect();
                let elements = pass_after_pass(&unknowns, passes);
                self.values[id.0] = Some(Tensor { laned: true, elements, ..tensor.clone() }.into());
                carried.unknowns_of_own.push((id, unknowns));
                carried.own.insert(id, tensor);
            } else {
                outer.insert(id, Outer::elements(value.count()));
                carried.before.insert(id, tensor);
            }
        }
        Some((outer, carried))
    }

    /// Elements that passes read of a variable of which they write elements: their own ones as they are, others as
    /// unknowns.
    pub(crate) fn carried_elements(
        &mut self,
        id: VariableId,
        places: &super::index::Places,
        ty: StanType,
    ) -> Run<Option<Value>> {
        let count = self.lane_count();
        let Some(Outer::Elements { writers, .. }) = self.outer_of(id) else { return Ok(None) };
        let width = if places.laned { places.places.len() / count } else { places.places.len() };
        let place = |pass: usize, k: usize| places.places[if places.laned { pass * width + k } else { k }];
        let column = |k: usize| (0..count).map(|pass| place(pass, k)).collect::<Vec<u32>>();
        let mut columns = Vec::with_capacity(width);
        for k in 0..width {
            let column = column(k);
            let own = column.iter().enumerate().filter(|&(pass, &place)| writers[place as usize] == pass as u32 + 1);
            match own.count() {
                0 => columns.push((column, false)),
                all if all == count => columns.push((column, true)),
                _ => return Err(Stop::Lanes),
            }
        }
        if columns.iter().all(|(_, is_own)| *is_own) {
            return Ok(None);
        }
        let Some(Value::Reals(tensor)) = self.values[id.0].clone() else { return Err(Stop::Lanes) };
        let mut unknowns = Vec::with_capacity(width);
        for (column, is_own) in columns {
            unknowns.push(if is_own { (None, column) } else { (Some(self.unknown_of(id, &column)?), column) });
        }
        let elements = match &unknowns[..] {
            [(Some(unknown), _)] => Elements::Whole(*unknown),
            _ => {
                let element = |pass: usize, (unknown, column): &(Option<NodeId>, Vec<u32>)| match unknown {
                    Some(unknown) => Element::Of(*unknown, pass as u32),
                    None => tensor.elements.at(column[pass] as usize),
                };
                let all = (0..count).flat_map(|pass| unknowns.iter().map(move |column| element(pass, column)));
                elements_of(all.collect())
            }
        };
        Ok(Some(Tensor::new(ty, places.dims.clone(), true, elements).into()))
    }

    fn unknown_of(&mut self, id: VariableId, column: &[u32]) -> Run<NodeId> {
        let count = column.len();
        let Some(carried) = self.carried_reads() else { return Err(Stop::Lanes) };
        let key = (id, column.to_vec());
        if let Some(&known) = carried.reads.get(&key) {
            return Ok(known);
        }
        let unknown = self.graph.unknown(count);
        if let Some(carried) = self.carried_reads() {
            carried.order.push(key.clone());
            carried.reads.insert(key, unknown);
        }
        Ok(unknown)
    }

    /// Closes the loop: unknowns become outputs of a scan. False if the passes do not all do the same.
    pub(crate) fn close_carried(
        &mut self,
        mark: &GraphMark,
        passes: usize,
        outer: &HashMap<VariableId, Outer>,
        carried: &CarriedReads,
        first_target: usize,
    ) -> bool {
        let Some(values) = self.carried_values(passes, outer, carried) else { return false };
        // What is left of the loop: variables that passes wrote, and terms of the target.
        let mut written: Vec<VariableId> = outer.keys().chain(carried.own.keys()).copied().collect();
        written.sort_by_key(|id| id.0);
        for id in carried.own.keys() {
            if let Some(value) = self.values[id.0].take() {
                self.values[id.0] = Some(self.last_lane(value, passes));
            }
        }
        let mut results: Vec<NodeId> = Vec::new();
        let mut seen: HashSet<NodeId> = HashSet::new();
        let mut ask = |node: NodeId| {
            if seen.insert(node) {
                results.push(node);
            }
        };
        self.target[first_target..].iter().for_each(|&node| ask(node));
        for id in &written {
            if let Some(Value::Reals(tensor)) = &self.values[id.0] {
                match &tensor.elements {
                    Elements::Data(_) => {}
                    Elements::Whole(node) => ask(*node),
                    Elements::Mixed(elements) => elements.iter().for_each(|element| {
                        if let Element::Of(node, _) = element {
                            ask(*node);
                        }
                    }),
                }
            }
        }
        let Some(made) = self.graph.close_recurrence(mark, passes, &values, &results) else { return false };
        let to: HashMap<NodeId, NodeId> = results.into_iter().zip(made).collect();
        // What they were of may have been made anew.
        self.forget_normals(first_target);
        for term in &mut self.target[first_target..] {
            *term = to.get(term).copied().unwrap_or(*term);
        }
        for id in written {
            if let Some(Value::Reals(tensor)) = self.values[id.0].take() {
                self.values[id.0] = Some(self.with_known_nodes(tensor, &to).into());
            }
        }
        true
    }

    fn with_known_nodes(&self, tensor: Tensor, to: &HashMap<NodeId, NodeId>) -> Tensor {
        let new = |node: NodeId| to.get(&node).copied().unwrap_or(node);
        let elements = match tensor.elements {
            Elements::Data(values) => Elements::Data(values),
            Elements::Whole(node) => match self.graph.known(new(node)) {
                Some(values) => Elements::Data(values.into()),
                None => Elements::Whole(new(node)),
            },
            Elements::Mixed(elements) => {
                let mut known: HashMap<NodeId, Option<Rc<Vec<f64>>>> = HashMap::new();
                let element = |element: &Element| match *element {
                    Element::Of(node, place) => {
                        let node = new(node);
                        match known.entry(node).or_insert_with(|| self.graph.known(node).map(Rc::new)) {
                            Some(values) => Element::Known(values[place as usize]),
                            None => Element::Of(node, place),
                        }
                    }
                    known => known,
                };
                elements_of(elements.iter().map(element).collect())
            }
        };
        Tensor { elements, ..tensor }
    }

    /// Where the values of all unknowns come from.
    fn carried_values(
        &mut self,
        passes: usize,
        outer: &HashMap<VariableId, Outer>,
        carried: &CarriedReads,
    ) -> Option<Vec<CarriedValue>> {
        let mut values = Vec::new();
        for (id, unknowns) in &carried.unknowns_of_own {
            let (before, width) = (carried.own.get(id)?, unknowns.len());
            let after = self.values[id.0].clone()?;
            let after = self.tensor(&after);
            for (k, &unknown) in unknowns.iter().enumerate() {
                let before = self.node_of_elements(&[before.elements.at(k)]);
                let place = |pass: usize| if after.laned { pass * width + k } else { k };
                let written: Vec<Element> = (0..passes - 1).map(|pass| after.elements.at(place(pass))).collect();
                let after = self.node_of_elements(&written);
                values.push(CarriedValue { unknown, before, after });
            }
        }
        for key in &carried.order {
            let (id, places) = key;
            let Some(Outer::Elements { writers, .. }) = outer.get(id) else { return None };
            let after = self.values[id.0].clone()?;
            let (before, after) = (carried.before.get(id)?, self.tensor(&after));
            // The pass that wrote a place, if it is an earlier one.
            let writer = |pass: usize| match writers[places[pass] as usize] {
                0 => None,
                writer => Some(writer as usize - 1).filter(|&writer| writer < pass),
            };
            let distance = (0..passes).find_map(|pass| writer(pass).map(|writer| pass - writer)).unwrap_or(passes);
            let is_carried = |pass: usize| writer(pass) == pass.checked_sub(distance);
            if !(0..passes).all(is_carried) {
                return None;
            }
            let at = |elements: &Elements, pass: usize| elements.at(places[pass] as usize);
            let first: Vec<Element> = (0..distance).map(|pass| at(&before.elements, pass)).collect();
            let written: Vec<Element> = (distance..passes).map(|pass| at(&after.elements, pass)).collect();
            let before = self.node_of_elements(&first);
            let before = self.graph.broadcast(before, distance);
            let after = self.node_of_elements(&written);
            values.push(CarriedValue { unknown: *carried.reads.get(key)?, before, after });
        }
        Some(values)
    }
}

/// Elements pass after pass, where each of `columns` has an element for each pass.
fn pass_after_pass(columns: &[NodeId], passes: usize) -> Elements {
    if let [one] = columns {
        return Elements::Whole(*one);
    }
    let all = (0..passes).flat_map(|pass| columns.iter().map(move |&column| Element::Of(column, pass as u32)));
    elements_of(all.collect())
}
