//! From values to nodes.

use super::Interpreter;
use crate::value::{Element, Elements, Ints, Tensor, Value};
use octopus_program::NodeId;
use octopus_stan::{BaseType, StanType};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A column of data, which is equal to others by its bits.
#[derive(Clone, Debug)]
pub(super) struct ColumnBits(Arc<[f64]>);

impl PartialEq for ColumnBits {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&*other.0).all(|(x, y)| x.to_bits() == y.to_bits())
    }
}

impl Eq for ColumnBits {}

impl Hash for ColumnBits {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|x| state.write_u64(x.to_bits()));
    }
}

impl Interpreter<'_> {
    /// A table of indices; equal ones are one.
    pub(crate) fn table(&mut self, rows: Vec<u32>) -> Arc<[u32]> {
        if self.is_on_draw {
            return rows.into();
        }
        if let Some(known) = self.tables.get(rows.as_slice()) {
            return known.clone();
        }
        let table: Arc<[u32]> = rows.into();
        self.tables.insert(table.clone());
        table
    }

    /// A column of data; equal ones are one.
    pub(crate) fn column(&mut self, values: &Arc<[f64]>) -> NodeId {
        if let [x] = **values {
            return self.graph.constant(x);
        }
        if self.is_on_draw {
            // Most columns are new, and none outlives its statement.
            return self.graph.column(values.clone());
        }
        let own = ColumnBits(values.clone());
        let column = match self.columns.get(&own) {
            Some(ColumnBits(known)) => known.clone(),
            None => {
                self.columns.insert(own);
                values.clone()
            }
        };
        self.graph.column(column)
    }

    /// Elements of a node by their places.
    pub(crate) fn gather(&mut self, node: NodeId, places: Vec<u32>) -> NodeId {
        let length = self.graph.len(node);
        let first = places.first().copied().unwrap_or(0);
        let is_run = places.iter().enumerate().all(|(k, &place)| place as usize == first as usize + k);
        if is_run && !places.is_empty() {
            if first == 0 && places.len() == length {
                return node;
            }
            return self.graph.slice(node, first as usize, places.len());
        }
        let table = self.table(places);
        self.graph.gather(node, table)
    }

    /// One node with all elements of a value: a scalar's node has length 1.
    pub(crate) fn node(&mut self, tensor: &Tensor) -> NodeId {
        match &tensor.elements {
            Elements::Data(values) => self.column(values),
            Elements::Whole(node) => *node,
            Elements::Mixed(elements) => self.node_of_elements(elements),
        }
    }

    pub(crate) fn node_of_elements(&mut self, elements: &[Element]) -> NodeId {
        let mut sources: Vec<NodeId> = Vec::new();
        let mut order: HashMap<NodeId, usize> = HashMap::new();
        let mut known: Vec<f64> = Vec::new();
        for element in elements {
            match *element {
                Element::Known(x) => known.push(x),
                Element::Of(node, _) => {
                    if sources.last() != Some(&node) {
                        order.entry(node).or_insert_with(|| {
                            sources.push(node);
                            sources.len() - 1
                        });
                    }
                }
            }
        }
        if sources.is_empty() {
            return self.column(&known.into());
        }
        if sources.len() == 1 && known.is_empty() {
            let places = elements.iter().map(|element| if let Element::Of(_, place) = element { *place } else { 0 });
            let places = places.collect();
            return self.gather(sources[0], places);
        }
        let mut starts = Vec::with_capacity(sources.len());
        let mut length = 0_usize;
        for &source in &sources {
            starts.push(length);
            length += self.graph.len(source);
        }
        let known_from = length;
        let mut next_known = known_from as u32;
        let mut places = Vec::with_capacity(elements.len());
        let mut last = (sources[0], 0);
        for element in elements {
            places.push(match *element {
                Element::Known(_) => {
                    next_known += 1;
                    next_known - 1
                }
                Element::Of(node, place) => {
                    if last.0 != node {
                        last = (node, order.get(&node).copied().unwrap_or(0));
                    }
                    starts[last.1] as u32 + place
                }
            });
        }
        // Only few elements of long vectors: take them out first.
        if length > 4 * elements.len() + 64 {
            return self.node_of_few_elements(elements, &sources, &order);
        }
        if !known.is_empty() {
            let known = self.column(&known.into());
            sources.push(known);
        }
        let whole = self.graph.concat(&sources);
        self.gather(whole, places)
    }

    /// The same for few elements of long vectors: of each vector only the elements that are needed are joined.
    fn node_of_few_elements(
        &mut self,
        elements: &[Element],
        sources: &[NodeId],
        order: &HashMap<NodeId, usize>,
    ) -> NodeId {
        let (mut known, mut wanted): (Vec<f64>, Vec<Vec<u32>>) = (Vec::new(), vec![Vec::new(); sources.len()]);
        // For each element the vector that it is of, and its place among the elements taken of it.
        let mut at = Vec::with_capacity(elements.len());
        for element in elements {
            at.push(match *element {
                Element::Known(x) => {
                    known.push(x);
                    (sources.len(), known.len() - 1)
                }
                Element::Of(node, place) => {
                    let source = order.get(&node).copied().unwrap_or(0);
                    wanted[source].push(place);
                    (source, wanted[source].len() - 1)
                }
            });
        }
        let (mut starts, mut length) = (Vec::with_capacity(sources.len() + 1), 0);
        for count in wanted.iter().map(Vec::len).chain([known.len()]) {
            starts.push(length);
            length += count;
        }
        let mut pieces: Vec<NodeId> =
            sources.iter().zip(wanted).map(|(&source, places)| self.gather(source, places)).collect();
        if !known.is_empty() {
            pieces.push(self.column(&known.into()));
        }
        let joined = self.graph.concat(&pieces);
        self.gather(joined, at.into_iter().map(|(source, k)| (starts[source] + k) as u32).collect())
    }

    /// A value whose elements are numbers, if all are known.
    pub(crate) fn settled(&self, value: Value) -> Value {
        let Value::Reals(tensor) = value else { return value };
        let elements = match &tensor.elements {
            Elements::Data(_) => None,
            Elements::Whole(node) => self.graph.known(*node),
            Elements::Mixed(all) => all.iter().map(|element| self.number(*element)).collect(),
        };
        match elements {
            Some(values) => Tensor { elements: Elements::Data(values.into()), ..tensor }.into(),
            None => tensor.into(),
        }
    }

    /// The `count` elements of a node, if they are known. A misused graph has one NaN in their place.
    pub(crate) fn known_elements(&self, node: NodeId, count: usize) -> Option<Vec<f64>> {
        let values = self.graph.known(node)?;
        Some(if values.len() == count || self.graph.fault().is_none() { values } else { vec![f64::NAN; count] })
    }

    fn number(&self, element: Element) -> Option<f64> {
        match element {
            Element::Known(x) => Some(x),
            Element::Of(node, place) => self.graph.known(node)?.get(place as usize).copied(),
        }
    }

    /// The reals of a value; whole numbers become reals.
    pub(crate) fn tensor(&self, value: &Value) -> Tensor {
        match value {
            Value::Int(x) => Tensor::number(*x as f64),
            Value::Real(x) => Tensor::number(*x),
            Value::Ints(ints) => {
                let ty = StanType::array(BaseType::Real, ints.dims.len() as u8);
                let values: Vec<f64> = ints.values.iter().map(|&x| x as f64).collect();
                Tensor::new(ty, ints.dims.clone(), ints.laned, Elements::Data(values.into()))
            }
            Value::Reals(tensor) => tensor.clone(),
            Value::Void => Tensor::number(f64::NAN),
        }
    }

    /// The whole numbers of a value that has some.
    pub(crate) fn ints(&self, value: &Value) -> Option<Ints> {
        match value {
            Value::Int(x) => Some(Ints { dims: Vec::new(), laned: false, values: vec![*x].into() }),
            Value::Ints(ints) => Some(ints.clone()),
            _ => None,
        }
    }

    /// The elements at some places, in that order.
    pub(crate) fn pick(&mut self, elements: &Elements, places: Vec<u32>) -> Elements {
        match elements {
            Elements::Data(values) => Elements::Data(places.iter().map(|&k| values[k as usize]).collect()),
            Elements::Whole(node) if places.len() > 1 => Elements::Whole(self.gather(*node, places)),
            Elements::Whole(node) => {
                Elements::Mixed(places.iter().map(|&k| Element::Of(*node, k)).collect::<Vec<_>>().into())
            }
            Elements::Mixed(all) => {
                let picked: Vec<Element> = places.iter().map(|&k| all[k as usize]).collect();
                elements_of(picked)
            }
        }
    }

    /// A value with elements for each lane.
    pub(crate) fn laned(&mut self, tensor: &Tensor) -> Tensor {
        if tensor.laned {
            return tensor.clone();
        }
        let (lanes, count) = (self.lane_count(), tensor.count());
        let places = (0..lanes).flat_map(|_| 0..count as u32).collect();
        let elements = self.pick(&tensor.elements, places);
        Tensor { laned: true, elements, ..tensor.clone() }
    }
}

/// Elements, as data if all are known.
pub(crate) fn elements_of(elements: Vec<Element>) -> Elements {
    let known = |element: &Element| if let Element::Known(x) = element { Some(*x) } else { None };
    match elements.iter().map(known).collect::<Option<Vec<f64>>>() {
        Some(values) => Elements::Data(values.into()),
        None => Elements::Mixed(elements.into()),
    }
}
