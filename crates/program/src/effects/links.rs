//! Which effects are the locations of others: what the data say of the others they say of them too.
//!
//! A location that is a plain parameter, such as the mean of all groups, becomes a block of its own, of which no term of the
//! target is taken.

use super::find::FoundEffects;
use crate::graph::{Graph, Node, NodeId};
use crate::operation::Op;
use octopus_density::Centering;
use std::collections::{HashMap, HashSet};

/// A block's location as elements of another block times known numbers, and a rest.
#[derive(Clone, Debug)]
pub(crate) struct ParentLink {
    pub(crate) parent: usize,
    /// The parent's element for each effect.
    pub(crate) elements: Vec<u32>,
    /// Known numbers, one or one for each effect; 1 where there are none.
    pub(crate) factor: Option<NodeId>,
    /// What else the location is the sum of, each with whether it is added.
    pub(crate) rest: Vec<(NodeId, bool)>,
}

/// For each block the one that its location is made of. Blocks are added for plain parameters.
pub(crate) fn find_links(graph: &Graph, blocks: &mut Vec<FoundEffects>) -> Vec<Option<ParentLink>> {
    let mut links = Vec::new();
    let mut of_effects: HashMap<NodeId, usize> = HashMap::new();
    for (number, block) in blocks.iter().enumerate() {
        if let Some(node) = block.effect {
            of_effects.insert(node, number);
        }
    }
    let taken: HashSet<NodeId> = blocks.iter().map(|block| block.parameter).collect();
    for child in 0..blocks.len() {
        if blocks[child].earlier.is_some() || blocks[child].triangle.is_some() {
            links.push(None);
            continue;
        }
        let mut terms = Vec::new();
        summands(graph, blocks[child].location, &mut terms);
        let rows = blocks[child].places.len();
        let of_term = |&(node, is_added): &(NodeId, bool)| {
            let (base, elements, factor) = elements_of(graph, node, &of_effects)?;
            let elements = if elements.len() == rows { elements } else { vec![*elements.first()?; rows] };
            is_added.then_some((base, elements, factor))
        };
        let candidates: Vec<_> = terms.iter().map(of_term).collect();
        let is_block = |base: NodeId| of_effects.contains_key(&base);
        let is_plain = |base: NodeId| !taken.contains(&base) && matches!(graph.nodes[base.at()], Node::Parameter(_));
        let chosen = |fits: &dyn Fn(NodeId) -> bool| {
            candidates.iter().position(|candidate| candidate.as_ref().is_some_and(|(base, ..)| fits(*base)))
        };
        let Some(at) = chosen(&is_block).or_else(|| chosen(&is_plain)) else {
            links.push(None);
            continue;
        };
        let Some((base, elements, factor)) = candidates[at].clone() else { continue };
        let parent = *of_effects.entry(base).or_insert_with(|| {
            blocks.push(plain(graph, base, &blocks[child].label));
            blocks.len() - 1
        });
        terms.remove(at);
        links.push(Some(ParentLink { parent, elements, factor, rest: terms }));
    }
    links.resize(blocks.len(), None);
    links
}

/// A parameter that is the location of others, as a block.
fn plain(graph: &Graph, parameter: NodeId, child: &str) -> FoundEffects {
    FoundEffects {
        parameter,
        places: (0..graph.len(parameter) as u32).collect(),
        effect: Some(parameter),
        location: NodeId::NONE,
        scale: NodeId::NONE,
        term: None,
        written: Centering::NonCentered,
        is_affine: false,
        is_log: false,
        earlier: None,
        triangle: None,
        label: format!("the location in {child}"),
    }
}

/// The terms of a sum, each with whether it is added.
fn summands(graph: &Graph, node: NodeId, all: &mut Vec<(NodeId, bool)>) {
    let mut waiting = vec![(node, true)];
    while let Some((node, is_added)) = waiting.pop() {
        match graph.nodes[node.at()] {
            Node::Map(op @ (Op::Add | Op::Sub), [a, b, _]) if all.len() + waiting.len() < MOST_TERMS => {
                waiting.push((b, is_added == (op == Op::Add)));
                waiting.push((a, is_added));
            }
            _ => all.push((node, is_added)),
        }
    }
}

/// Terms of a location that are told apart.
const MOST_TERMS: usize = 16;

/// The effects, or the plain parameter, of which a node has elements, and the known numbers that these are multiplied by.
fn elements_of(
    graph: &Graph,
    node: NodeId,
    effects: &HashMap<NodeId, usize>,
) -> Option<(NodeId, Vec<u32>, Option<NodeId>)> {
    let length = graph.len(node) as u32;
    if effects.contains_key(&node) {
        return Some((node, (0..length).collect(), None));
    }
    let is_one_number = |factor: &Option<NodeId>| factor.is_none_or(|factor| graph.len(factor) == 1);
    match graph.nodes[node.at()] {
        Node::Parameter(_) => Some((node, (0..length).collect(), None)),
        Node::Map(Op::Mul, [a, b, _]) => {
            let (known, other) = if graph.depends_on_parameters(a) { (b, a) } else { (a, b) };
            let (base, elements, factor) = elements_of(graph, other, effects)?;
            let is_factor = !graph.depends_on_parameters(known) && factor.is_none();
            let elements =
                if elements.len() == length as usize { elements } else { vec![*elements.first()?; length as usize] };
            is_factor.then_some((base, elements, Some(known)))
        }
        Node::Slice(source, start, _) => {
            let (base, elements, factor) = elements_of(graph, source, effects).filter(|(.., f)| is_one_number(f))?;
            Some((base, elements.get(start as usize..(start + length) as usize)?.to_vec(), factor))
        }
        Node::Gather(source, index) => {
            let (base, elements, factor) = elements_of(graph, source, effects).filter(|(.., f)| is_one_number(f))?;
            let rows = &graph.indexes[index as usize].rows;
            Some((base, rows.iter().map(|&row| elements[row as usize]).collect(), factor))
        }
        _ => None,
    }
}
