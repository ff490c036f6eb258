//! A program in other coordinates of its effects: graphs in which effects, or what they are made of, are other nodes.

use super::FoundHierarchy;
use super::find::FoundEffects;
use super::links::ParentLink;
use crate::graph::{Graph, NodeId};
use crate::matrix::Matrix;
use crate::operation::Op;
use octopus_density::Centering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What a graph's coordinates of effects are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum EffectUnits {
    /// Inputs of the graph choose them: [`EffectCoordinates`](octopus_density::EffectCoordinates).
    Walked,
    /// Effects in units of their prior.
    Natural,
    /// Effects themselves.
    Effects,
}

/// A graph with what is asked of it.
pub(super) struct Rewritten {
    pub(super) graph: Graph,
    pub(super) roots: Vec<NodeId>,
}

/// One block in a graph with new coordinates.
struct BlockNodes {
    /// The effects and their scales, an element for each.
    effects: NodeId,
    scales: NodeId,
    /// The effects in units of their prior.
    z: NodeId,
    /// The coordinates that are walked.
    x: NodeId,
    /// The logarithm of 1 / `d`, an element for each.
    log_inverse: NodeId,
}

/// What the data say of the effects of a block, and what they leave of the prior's width.
#[derive(Clone, Copy)]
struct BlockKnowledge {
    precision: NodeId,
    /// The precision times where the data put the effect.
    pull: NodeId,
    /// 1, or 0 where the effects themselves are the coordinates.
    prior: NodeId,
    /// 1 / d
    inverse: NodeId,
}

/// The distribution of a block's `z` given location and scale, where the data say what is known of the effects.
enum Conditional {
    /// Each effect's: its mean and the root of 1 / `d`.
    OfEach { mean: NodeId, inverse: NodeId, width: NodeId },
    /// A vector's: the Cholesky factor R of its precision, and R times its mean.
    OfVector { factor: NodeId, mean: NodeId, rows: usize },
}

impl Conditional {
    fn of_each(m: &mut Graph, scale: NodeId, away: NodeId, known: &BlockKnowledge) -> Self {
        let width = m.apply(Op::Sqrt, &[known.inverse]);
        let scaled = m.mul(scale, known.inverse);
        Self::OfEach { mean: m.mul(scaled, away), inverse: known.inverse, width }
    }

    /// The data put element k of `L z` at `away_k / p_k`, with the precision `p_k`. So the precision of `z` is C + L' P L, and
    /// its mean is the solution of (C + L' P L) z = L' away.
    fn of_vector(m: &mut Graph, triangle: NodeId, away: NodeId, known: &BlockKnowledge) -> Self {
        let rows = m.len(away);
        let triangle_matrix = Matrix::new(triangle, rows, rows);
        let places = || (0..rows as u32).flat_map(move |row| (0..rows as u32).map(move |column| (row, column)));
        let of_rows = m.gather(known.precision, places().map(|(row, _)| row).collect::<Vec<_>>());
        let weighted = m.mul(of_rows, triangle);
        let told = m.product(triangle_matrix.t(), Matrix::new(weighted, rows, rows));
        let zero = m.constant(0.0);
        let priors = m.concat(&[known.prior, zero]);
        let diagonal = places().map(|(row, column)| if row == column { row } else { rows as u32 });
        let priors = m.gather(priors, diagonal.collect::<Vec<_>>());
        let precision = m.add(priors, told);
        let factor = m.cholesky(precision, rows);
        let pull = m.product(triangle_matrix.t(), Matrix::new(away, rows, 1));
        Self::OfVector { factor, mean: m.solve(factor, pull, rows, 1, false), rows }
    }

    /// `z` where the coordinates are `x`.
    fn z(&self, m: &mut Graph, x: NodeId) -> NodeId {
        match *self {
            Self::OfEach { mean, width, .. } => {
                let own_part = m.mul(width, x);
                m.add(mean, own_part)
            }
            Self::OfVector { factor, mean, rows } => {
                let sum = m.add(mean, x);
                m.solve(factor, sum, rows, 1, true)
            }
        }
    }

    /// The coordinates of `z`.
    fn x(&self, m: &mut Graph, z: NodeId) -> NodeId {
        match *self {
            Self::OfEach { mean, width, .. } => {
                let rest = m.sub(z, mean);
                m.div(rest, width)
            }
            Self::OfVector { factor, mean, rows } => {
                let turned = m.product(Matrix::new(factor, rows, rows).t(), Matrix::new(z, rows, 1));
                m.sub(turned, mean)
            }
        }
    }

    /// Numbers whose sum is twice the logarithm of the derivative of `z` by the coordinates.
    fn log_inverse(&self, m: &mut Graph) -> NodeId {
        match *self {
            Self::OfEach { inverse, .. } => m.ln(inverse),
            Self::OfVector { factor, rows, .. } => {
                let diagonal = m.diagonal(factor, rows);
                let logs = m.ln(diagonal);
                let minus_two = m.constant(-2.0);
                m.mul(minus_two, logs)
            }
        }
    }
}

/// Makes the coordinates of all blocks new ones. Everything that is made is in terms of old nodes until it is rewritten.
struct CoordinateChange<'a> {
    graph: Graph,
    blocks: &'a [FoundEffects],
    made: Vec<BlockNodes>,
    /// What stands in the place of each parameter, and the node that has its coordinates then.
    instead: HashMap<NodeId, NodeId>,
    coordinates: Vec<(NodeId, NodeId)>,
}

impl<'a> CoordinateChange<'a> {
    fn new(graph: &Graph, hierarchy: &'a FoundHierarchy, kind: EffectUnits) -> Option<Self> {
        let blocks = &hierarchy.blocks[..];
        let mut me =
            Self { graph: graph.clone(), blocks, made: Vec::new(), instead: HashMap::new(), coordinates: Vec::new() };
        let effects: usize = blocks.iter().map(|block| block.places.len()).sum();
        let inputs = me.graph.parameter(4 * effects);
        let known = me.known(hierarchy, inputs, effects)?;
        let mut parameters: Vec<NodeId> = blocks.iter().map(|block| block.parameter).collect();
        parameters.sort();
        parameters.dedup();
        for &parameter in &parameters {
            let own = me.graph.unknown(me.graph.len(parameter));
            me.coordinates.push((parameter, own));
        }
        // For each parameter the pieces of its new value, of which the first one is what stays, and each element's place.
        let coordinates = me.coordinates.clone();
        let mut values: HashMap<NodeId, (Vec<NodeId>, Vec<u32>)> = coordinates
            .iter()
            .map(|&(parameter, own)| (parameter, (vec![own], (0..me.graph.len(own) as u32).collect())))
            .collect();
        for (block, known) in blocks.iter().zip(&known) {
            let (pieces, places) = values.get_mut(&block.parameter)?;
            let own = taken(&mut me.graph, pieces[0], &block.places);
            let next: usize = pieces.iter().map(|&piece| me.graph.len(piece)).sum();
            for (k, &place) in block.places.iter().enumerate() {
                places[place as usize] = (next + k) as u32;
            }
            pieces.push(me.block(block, kind, own, known)?);
        }
        for (parameter, own) in coordinates {
            let (pieces, places) = values.remove(&parameter)?;
            let length = me.graph.len(own);
            let value = match pieces[..] {
                // One block has all elements, in order.
                [_, value] if places.iter().enumerate().all(|(k, &place)| place as usize == length + k) => value,
                _ => {
                    let all = me.graph.concat(&pieces);
                    me.graph.gather(all, places)
                }
            };
            me.instead.insert(parameter, value);
        }
        Some(me)
    }

    /// What is known of each block, children before parents: for a child with the precision p and the scale s, its location is
    /// known with the precision p / (1 + p s^2).
    fn known(&mut self, hierarchy: &FoundHierarchy, inputs: NodeId, effects: usize) -> Option<Vec<BlockKnowledge>> {
        let FoundHierarchy { blocks, links } = hierarchy;
        let m = &mut self.graph;
        let mut offsets = vec![0; blocks.len()];
        for number in 1..blocks.len() {
            offsets[number] = offsets[number - 1] + blocks[number - 1].places.len();
        }
        let mut known: Vec<Option<BlockKnowledge>> = vec![None; blocks.len()];
        while let Some(number) = (0..blocks.len()).find(|&number| known[number].is_none()) {
            let children = |number: usize| {
                let is_child = move |link: &Option<ParentLink>| link.as_ref().is_some_and(|link| link.parent == number);
                links.iter().enumerate().filter(move |(_, link)| is_child(link)).map(|(child, _)| child)
            };
            // Down to a block all of whose children are known.
            let (mut number, mut steps) = (number, 0);
            while let Some(child) = children(number).find(|&child| known[child].is_none()) {
                (number, steps) = (child, steps + 1);
                if steps > blocks.len() {
                    return None;
                }
            }
            let block = &blocks[number];
            let rows = block.places.len();
            let [top, mut precision, prior, is_linked] =
                [0, 1, 2, 3].map(|k| m.slice(inputs, k * effects + offsets[number], rows));
            let mut pull = m.mul(precision, top);
            for child in children(number).collect::<Vec<_>>() {
                let (Some(of_child), Some(link)) = (known[child], &links[child]) else { return None };
                let (mut sum_known, mut sum_pull) = location_known(m, of_child, link, rows);
                sum_known = m.mul(is_linked, sum_known);
                sum_pull = m.mul(is_linked, sum_pull);
                precision = m.add(precision, sum_known);
                pull = m.add(pull, sum_pull);
            }
            // d = c + p s^2; p first, so that 0 stays 0.
            let gain = if block.scale == NodeId::NONE { precision } else { m.mul(precision, block.scale) };
            let share = if block.scale == NodeId::NONE { gain } else { m.mul(gain, block.scale) };
            let d = m.add(prior, share);
            let one = m.constant(1.0);
            known[number] = Some(BlockKnowledge { precision, pull, prior, inverse: m.div(one, d) });
        }
        known.into_iter().collect()
    }

    /// Makes the nodes of a block, of which `own` are the coordinates; returns what takes the place of its elements of the
    /// parameter.
    fn block(
        &mut self,
        block: &FoundEffects,
        kind: EffectUnits,
        own: NodeId,
        known: &BlockKnowledge,
    ) -> Option<NodeId> {
        let &FoundEffects { location, scale, written, .. } = block;
        let rows = block.places.len();
        let m = &mut self.graph;
        let is_plain = location == NodeId::NONE;
        let [mut location, scale] = if is_plain { [m.constant(0.0), m.constant(1.0)] } else { [location, scale] };
        for &(earlier, coefficient) in block.earlier.iter().flatten() {
            let part = m.mul(coefficient, self.made.get(earlier)?.z);
            location = m.add(location, part);
        }
        let of_location = m.mul(known.precision, location);
        let away = m.sub(known.pull, of_location);
        let conditional = match block.triangle {
            None => Conditional::of_each(m, scale, away, known),
            Some(triangle) => Conditional::of_vector(m, triangle, away, known),
        };
        let (x, z, effect) = match kind {
            EffectUnits::Walked => (own, conditional.z(m, own), None),
            EffectUnits::Natural => (conditional.x(m, own), own, None),
            EffectUnits::Effects => {
                let deviation = m.sub(own, location);
                let z = match block.triangle {
                    None => m.div(deviation, scale),
                    Some(triangle) => m.solve(triangle, deviation, rows, 1, false),
                };
                (own, z, Some(own))
            }
        };
        let effect = effect.unwrap_or_else(|| {
            let scaled = match block.triangle {
                None => m.mul(scale, z),
                Some(triangle) => m.product(Matrix::new(triangle, rows, rows), Matrix::new(z, rows, 1)),
            };
            m.add(location, scaled)
        });
        let value = if written == Centering::Centered { effect } else { z };
        self.made.push(BlockNodes {
            effects: m.broadcast(effect, rows),
            scales: m.broadcast(scale, rows),
            z: m.broadcast(z, rows),
            x: m.broadcast(x, rows),
            log_inverse: conditional.log_inverse(m),
        });
        Some(m.broadcast(value, rows))
    }

    /// Puts the new nodes in the place of the old ones: in `roots`, and in the conditions on the density.
    fn finish(self, roots: &[NodeId]) -> Option<Rewritten> {
        let Self { mut graph, instead, coordinates, .. } = self;
        let guards: Vec<NodeId> = graph.guards.iter().map(|guard| guard.violations).collect();
        let asked: Vec<NodeId> = roots.iter().chain(&guards).copied().collect();
        let mut made = graph.substituted(&instead, &asked)?;
        let violations = made.split_off(roots.len());
        for (guard, violations) in graph.guards.iter_mut().zip(violations) {
            guard.violations = violations;
        }
        for (from, to) in coordinates {
            graph.move_parameter(from, to);
        }
        Some(Rewritten { graph, roots: made })
    }

    /// The target, with other terms in the place of the effects' own. Each takes away what the target has of the effects
    /// besides: the logarithm of a multiplier, and the Jacobian of parameters above 0.
    fn target(&mut self, terms: &[NodeId], own: impl Fn(&mut Graph, &BlockNodes) -> NodeId) -> NodeId {
        let mut terms = terms.to_vec();
        let mut begun = HashSet::new();
        for (block, made) in self.blocks.iter().zip(&self.made) {
            let Some(place) = block.term else { continue };
            let m = &mut self.graph;
            let mut term = own(m, made);
            if block.is_affine {
                let logs = m.ln(made.scales);
                let sum = m.sum(logs);
                term = m.sub(term, sum);
            }
            if block.is_log {
                let sum = m.sum(made.effects);
                term = m.sub(term, sum);
            }
            // Elements of vectors have one term.
            terms[place] = if begun.insert(place) { term } else { m.add(terms[place], term) };
        }
        let terms = self.graph.concat(&terms);
        self.graph.sum(terms)
    }

    fn all(&mut self, of: impl Fn(&BlockNodes) -> NodeId) -> NodeId {
        let nodes: Vec<NodeId> = self.made.iter().map(of).collect();
        self.graph.concat(&nodes)
    }
}

/// What is known of a parent's elements by a child's effects, and that times where they are put.
fn location_known(m: &mut Graph, child: BlockKnowledge, link: &ParentLink, elements: usize) -> (NodeId, NodeId) {
    let mut away = child.pull;
    for &(node, is_added) in &link.rest {
        let part = m.mul(child.precision, node);
        away = if is_added { m.sub(away, part) } else { m.add(away, part) };
    }
    let share = m.mul(child.prior, child.inverse);
    let [mut known, mut pull] = [child.precision, away].map(|of_effect| m.mul(of_effect, share));
    if let Some(factor) = link.factor {
        let square = m.square(factor);
        (known, pull) = (m.mul(square, known), m.mul(factor, pull));
    }
    if elements == 1 {
        return (m.sum(known), m.sum(pull));
    }
    let index: Arc<[u32]> = link.elements.as_slice().into();
    (m.segment_sum(known, index.clone(), elements), m.segment_sum(pull, index, elements))
}

/// The elements at these places, all of which may be the whole.
fn taken(graph: &mut Graph, node: NodeId, places: &[u32]) -> NodeId {
    let is_whole = places.len() == graph.len(node) && places.iter().enumerate().all(|(k, &place)| place as usize == k);
    if is_whole { node } else { graph.gather(node, places) }
}

/// Returns the program in coordinates that are inputs: the target, `z` of all effects, and the log-Jacobian.
pub(super) fn walked(graph: &Graph, terms: &[NodeId], hierarchy: &FoundHierarchy) -> Option<Rewritten> {
    let mut change = CoordinateChange::new(graph, hierarchy, EffectUnits::Walked)?;
    let target = change.target(terms, |m, made| {
        let square = m.square(made.z);
        let minus_half = m.constant(-0.5);
        let halves = m.mul(minus_half, square);
        m.sum(halves)
    });
    let half = change.graph.constant(0.5);
    let logs = change.all(|made| made.log_inverse);
    let logs = change.graph.sum(logs);
    let jacobian = change.graph.mul(half, logs);
    let target = change.graph.add(target, jacobian);
    let z = change.all(|made| made.z);
    change.finish(&[target, z, jacobian])
}

/// Returns the program in its own coordinates, in which effects are in units of their prior: the effects, their scales, the
/// coordinates that are inputs, and `values`.
pub(super) fn natural(graph: &Graph, values: &[NodeId], hierarchy: &FoundHierarchy) -> Option<Rewritten> {
    let mut change = CoordinateChange::new(graph, hierarchy, EffectUnits::Natural)?;
    let mut roots = vec![change.all(|made| made.effects), change.all(|made| made.scales), change.all(|made| made.x)];
    roots.extend(values);
    change.finish(&roots)
}

/// Returns the target without the effects' own terms, with the effects themselves as coordinates.
pub(super) fn likelihood(graph: &Graph, terms: &[NodeId], hierarchy: &FoundHierarchy) -> Option<Rewritten> {
    let mut change = CoordinateChange::new(graph, hierarchy, EffectUnits::Effects)?;
    let target = change.target(terms, |m, _| m.constant(0.0));
    change.finish(&[target])
}
