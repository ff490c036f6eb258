//! Finds effects: parameters that are normal around a location and with a scale that are parameters themselves.

mod readers;
mod vectors;

use crate::graph::{Graph, Node, NodeId};
use crate::operation::Op;
use octopus_density::Centering;
use readers::{OtherReaders, Readers};
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
    /// For one vector that is normal together: the lower triangle that times z is its deviation. The scales are those of its
    /// elements by themselves.
    pub(crate) triangle: Option<NodeId>,
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

/// Blocks of effects that are found at the most: each is told from all others.
const MOST_BLOCKS: usize = 4096;

/// Finds the effects among `statements`. A coordinate belongs to one block at the most, and no block's location or scale
/// depends on its own effects, not even through those of others.
pub(crate) fn find(graph: &mut Graph, terms: &[NodeId], statements: &[NormalStatement]) -> Vec<FoundEffects> {
    let readers = Readers::new(graph, terms);
    let mut found: Vec<FoundEffects> = Vec::new();
    let mut by_parameter: HashMap<NodeId, Vec<usize>> = HashMap::new();
    let mut taken: HashSet<(NodeId, u32)> = HashSet::new();
    for statement in statements {
        if found.len() >= MOST_BLOCKS {
            break;
        }
        let Some(&term) = terms.get(statement.term) else { continue };
        let readers = || readers.without(graph, term);
        let blocks = match statement.kind {
            NormalKind::Joint(columns) => vectors::themselves(graph, statement, columns, found.len()),
            NormalKind::Plain | NormalKind::Log => match block_of(graph, &readers, statement) {
                Some(block) => Some(vec![block]),
                None => {
                    let readers = readers();
                    vectors::in_units_of_their_prior(graph, &readers, statement, found.len())
                }
            },
        };
        let Some(blocks) = blocks else { continue };
        let places = || blocks.iter().flat_map(|block| block.places.iter().map(|&place| (block.parameter, place)));
        let mut own = HashSet::new();
        let is_free = places().all(|place| !taken.contains(&place) && own.insert(place));
        let (found_so_far, beside) = (&found, &blocks);
        let others = |parameter: NodeId| {
            let before = by_parameter.get(&parameter).into_iter().flatten().map(|&number| &found_so_far[number]);
            before.chain(beside.iter().filter(move |block| block.parameter == parameter)).flat_map(reads)
        };
        if is_free && !blocks.iter().any(|block| is_circular(graph, others, block)) {
            taken.extend(own);
            for block in blocks {
                by_parameter.entry(block.parameter).or_default().push(found.len());
                found.push(block);
            }
        }
    }
    found
}

fn block_of<'a>(
    graph: &Graph,
    readers: &dyn Fn() -> OtherReaders<'a>,
    statement: &NormalStatement,
) -> Option<FoundEffects> {
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
            triangle: None,
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
            return non_centered(graph, &readers(), centered);
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
        triangle: None,
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
        Node::Slice(source, start, _) => elements_at(graph, *source, *start..start + length),
        Node::Gather(source, index) => elements_at(graph, *source, graph.indexes[*index as usize].rows.iter().copied()),
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

/// The same for the elements at these places of a node; all others of a parameter need not be looked at.
fn elements_at(graph: &Graph, source: NodeId, places: impl Iterator<Item = u32>) -> Option<Vec<(NodeId, u32)>> {
    if let Node::Parameter(_) = graph.nodes[source.at()] {
        return Some(places.map(|place| (source, place)).collect());
    }
    let elements = elements(graph, source)?;
    places.map(|place| elements.get(place as usize).copied()).collect()
}

/// Standard normal coordinates of which nothing but products with one scale are read, as in `location + scale z`.
fn non_centered(graph: &Graph, readers: &OtherReaders<'_>, block: FoundEffects) -> Option<FoundEffects> {
    let is_whole = block.places.iter().enumerate().all(|(k, &place)| k == place as usize);
    if !is_whole || block.places.len() != graph.len(block.parameter) {
        return None;
    }
    let mut scale = None;
    let mut scaled = None;
    let mut waiting = vec![block.parameter];
    while let Some(node) = waiting.pop() {
        for reader in readers.of(node) {
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
    let sum = scaled.and_then(|scaled| {
        let sum = readers.only(scaled).filter(|&sum| graph.len(sum) == graph.len(scaled))?;
        Some((sum, other_operand(graph, sum, Op::Add, scaled)?))
    });
    let is_only = readers.only(block.parameter).is_some();
    let (effect, location) = match sum.filter(|_| is_only) {
        Some((sum, location)) => (Some(sum), location),
        None => (scaled, block.location),
    };
    Some(FoundEffects { effect, location, scale, written: Centering::NonCentered, ..block })
}

/// The nodes that a block's location and scale are made of.
fn reads(block: &FoundEffects) -> Vec<NodeId> {
    let coefficients = block.earlier.iter().flatten().map(|&(_, coefficient)| coefficient);
    [block.location, block.scale].into_iter().chain(coefficients).chain(block.triangle).collect()
}

/// Whether location or scale depend on the parameter that has the effects, as it is or through other effects: `others` are
/// the nodes that the effects of a parameter read.
fn is_circular<I: Iterator<Item = NodeId>>(graph: &Graph, others: impl Fn(NodeId) -> I, block: &FoundEffects) -> bool {
    let (mut waiting, mut seen) = (reads(block), HashSet::new());
    while let Some(node) = waiting.pop() {
        if node == block.parameter {
            return true;
        }
        if seen.insert(node) {
            graph.for_each_operand(&graph.nodes[node.at()], |operand| waiting.push(operand));
            waiting.extend(others(node));
        }
    }
    false
}
