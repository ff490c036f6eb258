//! Finds effects: parameters that are normal around a location and with a scale that are parameters themselves.

mod vectors;

use crate::graph::{Graph, Node, NodeId};
use crate::operation::Op;
use octopus_density::Centering;
use std::collections::{HashMap, HashSet};

/// What a statement says of its variate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormalKind {
    /// It is normal, with a location and a scale for each row or for all.
    Plain,
    /// Its logarithm is.
    Log,
    /// Vectors of so many elements, one after the other, are normal together: the location is such vectors too, or one for
    /// all, and the scale a triangular matrix, row by row.
    Joint(usize),
}

/// A statement `variate ~ normal(location, scale)`, or one of its relatives, without truncation.
#[derive(Clone, Debug)]
pub struct NormalStatement {
    /// What is normal; an element for each row.
    pub variate: NodeId,
    /// An element for each row, or one for all.
    pub location: NodeId,
    /// An element for each row, or one for all.
    pub scale: NodeId,
    /// What the statement says.
    pub kind: NormalKind,
    /// The place of its log density among the terms of the target.
    pub term: usize,
    /// The statement with its place, for people.
    pub label: String,
}

/// Effects that were found.
#[derive(Clone, Debug)]
pub(crate) struct FoundEffects {
    /// The parameter that has their coordinates, and their places in it.
    pub(crate) parameter: NodeId,
    pub(crate) places: Vec<u32>,
    /// The node that has the effects, if there is one.
    pub(crate) effect: Option<NodeId>,
    /// No node for a plain parameter that is the location of others: it is 0, and the scale 1.
    pub(crate) location: NodeId,
    /// For elements of vectors that are normal together, what else the location is the sum of: earlier blocks in units of their
    /// prior, each times a scalar.
    pub(crate) earlier: Option<Vec<(usize, NodeId)>>,
    pub(crate) scale: NodeId,
    /// The term of the target that is their prior; none for a plain parameter.
    pub(crate) term: Option<usize>,
    /// Whether the coordinates are the effects, or effects in units of their prior.
    pub(crate) written: Centering,
    /// Whether the target has the logarithm of the scale apart from the term: of an offset and a multiplier.
    pub(crate) is_affine: bool,
    /// Whether the effects are the logarithms of a parameter above 0, whose log-Jacobian the target has.
    pub(crate) is_log: bool,
    pub(crate) label: String,
}

/// What reads each node of a target.
type Readers = HashMap<NodeId, Vec<NodeId>>;

/// Finds the effects among `statements`. A coordinate belongs to one block at the most, and no block's location or scale
/// depends on its own effects, not even through those of others.
pub(crate) fn find(graph: &mut Graph, terms: &[NodeId], statements: &[NormalStatement]) -> Vec<FoundEffects> {
    let mut found: Vec<FoundEffects> = Vec::new();
    let mut taken: HashSet<(NodeId, u32)> = HashSet::new();
    for statement in statements {
        let blocks = match statement.kind {
            NormalKind::Joint(columns) => vectors::themselves(graph, statement, columns, found.len()),
            NormalKind::Plain | NormalKind::Log => match block_of(graph, terms, statement) {
                Some(block) => Some(vec![block]),
                None => vectors::in_units_of_their_prior(graph, terms, statement, found.len()),
            },
        };
        let Some(blocks) = blocks else { continue };
        let places = || blocks.iter().flat_map(|block| block.places.iter().map(|&place| (block.parameter, place)));
        let mut own = HashSet::new();
        let is_free = places().all(|place| !taken.contains(&place) && own.insert(place));
        if is_free && !blocks.iter().any(|block| is_circular(graph, &found, &blocks, block)) {
            taken.extend(own);
            found.extend(blocks);
        }
    }
    found
}

fn block_of(graph: &Graph, terms: &[NodeId], statement: &NormalStatement) -> Option<FoundEffects> {
    let &NormalStatement { variate, location, scale, term, .. } = statement;
    let (label, is_log) = (statement.label.clone(), statement.kind == NormalKind::Log);
    let variate = match graph.nodes[variate.at()] {
        Node::Map(Op::Exp, [log, ..]) if is_log => log,
        _ if is_log => return None,
        _ => variate,
    };
    let is_known = |node: NodeId| !graph.depends_on_parameters(node);
    if let Some((parameter, places)) = coordinates(graph, variate) {
        let centered = FoundEffects {
            parameter,
            places,
            effect: Some(variate),
            location,
            earlier: None,
            scale,
            term: Some(term),
            written: Centering::Centered,
            is_affine: false,
            is_log,
            label,
        };
        if !is_known(location) || !is_known(scale) {
            return Some(centered);
        }
        let is = |node: NodeId, x: f64| graph.known(node).is_some_and(|values| values.iter().all(|&value| value == x));
        if is(location, 0.0) && is(scale, 1.0) && !is_log {
            return non_centered(graph, terms, term, centered);
        }
        return None;
    }
    if is_log {
        return None;
    }
    let (parameter, places) = coordinates(graph, free_of(graph, variate, location, scale)?)?;
    let is_affine = true;
    let written = Centering::NonCentered;
    let is_block = !is_known(location) || !is_known(scale);
    let (effect, term) = (Some(variate), Some(term));
    is_block.then_some(FoundEffects {
        parameter,
        places,
        effect,
        location,
        earlier: None,
        scale,
        term,
        written,
        is_affine,
        is_log,
        label,
    })
}

/// The z of `location + scale z`.
fn free_of(graph: &Graph, node: NodeId, location: NodeId, scale: NodeId) -> Option<NodeId> {
    let is_zero = graph.known(location).is_some_and(|values| values.iter().all(|&x| x == 0.0));
    let scaled = if is_zero { node } else { other_operand(graph, node, Op::Add, location)? };
    let is_one = graph.known(scale).is_some_and(|values| values.iter().all(|&x| x == 1.0));
    if is_one { Some(scaled) } else { other_operand(graph, scaled, Op::Mul, scale) }
}

/// The other operand of an operation on `one`.
fn other_operand(graph: &Graph, node: NodeId, op: Op, one: NodeId) -> Option<NodeId> {
    match graph.nodes[node.at()] {
        Node::Map(found, [a, b, _]) if found == op && a == one => Some(b),
        Node::Map(found, [a, b, _]) if found == op && b == one => Some(a),
        _ => None,
    }
}

/// The parameter of which a node's elements are coordinates, and their places in it.
fn coordinates(graph: &Graph, node: NodeId) -> Option<(NodeId, Vec<u32>)> {
    of_one_parameter(elements(graph, node)?)
}

/// The one parameter of which these are elements, with their places in it.
fn of_one_parameter(elements: Vec<(NodeId, u32)>) -> Option<(NodeId, Vec<u32>)> {
    let &(parameter, _) = elements.first()?;
    let is_one = elements.iter().all(|&(other, _)| other == parameter);
    is_one.then(|| (parameter, elements.into_iter().map(|(_, place)| place).collect()))
}

/// The parameters of which a node's elements are coordinates, and their places in them.
fn elements(graph: &Graph, node: NodeId) -> Option<Vec<(NodeId, u32)>> {
    let length = graph.len(node) as u32;
    match &graph.nodes[node.at()] {
        Node::Parameter(_) => Some((0..length).map(|place| (node, place)).collect()),
        Node::Slice(source, start, _) => {
            let elements = elements(graph, *source)?;
            Some(elements.get(*start as usize..(start + length) as usize)?.to_vec())
        }
        Node::Gather(source, index) => {
            let elements = elements(graph, *source)?;
            let rows = &graph.indexes[*index as usize].rows;
            Some(rows.iter().map(|&row| elements[row as usize]).collect())
        }
        Node::Concat(pieces) => {
            let mut all = Vec::new();
            for &piece in pieces {
                all.extend(elements(graph, piece)?);
            }
            Some(all)
        }
        _ => None,
    }
}

/// Standard normal coordinates of which nothing but products with one scale are read, as in `location + scale z`.
fn non_centered(graph: &Graph, terms: &[NodeId], term: usize, block: FoundEffects) -> Option<FoundEffects> {
    let is_whole = block.places.iter().enumerate().all(|(k, &place)| k == place as usize);
    if !is_whole || block.places.len() != graph.len(block.parameter) {
        return None;
    }
    let readers = readers(graph, terms, term);
    let mut scale = None;
    let mut scaled = None;
    let mut waiting = vec![block.parameter];
    while let Some(node) = waiting.pop() {
        for &reader in readers.get(&node).map(Vec::as_slice).unwrap_or_default() {
            if let Node::Gather(..) | Node::Slice(..) = graph.nodes[reader.at()] {
                waiting.push(reader);
                continue;
            }
            let by = other_operand(graph, reader, Op::Mul, node)?;
            let is_own = node == block.parameter && graph.len(reader) == graph.len(node);
            let is_one = scale.is_none_or(|scale| scale == by);
            if !is_one || by == node || (graph.len(by) != 1 && !is_own) {
                return None;
            }
            scale = Some(by);
            scaled = is_own.then_some(reader);
        }
    }
    let scale = scale.filter(|&scale| graph.depends_on_parameters(scale))?;
    // Where every reader adds the same location, that is where the effects are.
    let of_scaled = scaled.and_then(|scaled| Some((scaled, readers.get(&scaled)?)));
    let sum = of_scaled.and_then(|(scaled, readers)| match readers[..] {
        [sum] if graph.len(sum) == graph.len(scaled) => Some((sum, other_operand(graph, sum, Op::Add, scaled)?)),
        _ => None,
    });
    let is_only = readers.get(&block.parameter).is_some_and(|readers| readers.len() == 1);
    let (effect, location) = match sum.filter(|_| is_only) {
        Some((sum, location)) => (Some(sum), location),
        None => (scaled, block.location),
    };
    Some(FoundEffects { effect, location, scale, written: Centering::NonCentered, ..block })
}

/// What reads each node, in the target without one of its terms and in the conditions on it.
fn readers(graph: &Graph, terms: &[NodeId], without: usize) -> Readers {
    let guards = graph.guards.iter().map(|guard| guard.violations);
    let roots: Vec<NodeId> =
        terms.iter().enumerate().filter(|&(k, _)| k != without).map(|(_, &term)| term).chain(guards).collect();
    let needed = graph.needed(&roots);
    let mut readers = Readers::new();
    for id in (0..graph.nodes.len()).filter(|&id| needed[id]) {
        graph.for_each_operand(&graph.nodes[id], |operand| {
            readers.entry(operand).or_default().push(NodeId(id as u32));
        });
    }
    readers
}

/// Whether location or scale depend on the parameter that has the effects, as it is or through other effects, of which
/// `beside` are of the same statement.
fn is_circular(graph: &Graph, found: &[FoundEffects], beside: &[FoundEffects], block: &FoundEffects) -> bool {
    let reads = |block: &FoundEffects| {
        let coefficients = block.earlier.iter().flatten().map(|&(_, coefficient)| coefficient);
        [block.location, block.scale].into_iter().chain(coefficients).collect::<Vec<NodeId>>()
    };
    let all = || found.iter().chain(beside);
    let mut roots = reads(block);
    let mut seen: HashSet<NodeId> = HashSet::new();
    loop {
        let needed = graph.needed(&roots);
        if needed[block.parameter.at()] {
            return true;
        }
        let new: HashSet<NodeId> =
            all().map(|other| other.parameter).filter(|other| needed[other.at()] && seen.insert(*other)).collect();
        if new.is_empty() {
            return false;
        }
        roots.extend(all().filter(|other| new.contains(&other.parameter)).flat_map(reads));
    }
}
