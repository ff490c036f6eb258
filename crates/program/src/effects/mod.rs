//! Effects of a program's hierarchies: they are found among its statements, and the program is rewritten so that a sampler
//! can walk them in coordinates of its choice. The rewriting changes coordinates alone, whatever was found.

mod coordinates;
mod find;
mod links;

pub use find::{NormalKind, NormalStatement};

use crate::error::ProgramError;
use crate::evaluate::padded;
use crate::graph::{Graph, Node, NodeId};
use crate::kernel::{KernelBody, KernelRefusal};
use crate::program::{Program, Values};
use coordinates::Rewritten;
use find::FoundEffects;
use links::ParentLink;
use octopus_density::{DensityError, EffectBlock, EffectCoordinates};

/// The effects of a program with what computes them.
#[derive(Debug)]
pub(crate) struct ProgramEffects {
    blocks: Vec<EffectBlock>,
    /// Coordinates of all effects, block after block.
    places: Vec<usize>,
    dim: usize,
    /// z of each effect and the log-Jacobian, in any coordinates.
    z: Values,
    /// What follows, in the density's own coordinates: effects and scales, and any coordinates.
    values: Values,
    x: Values,
    likelihood: Program,
}

/// A program with effects.
pub(crate) struct WithEffects {
    pub(crate) effects: ProgramEffects,
    /// The log density in any coordinates, which are the last part of its position ([`ProgramEffects::position`]).
    pub(crate) walked: Program,
    /// Values in the density's own coordinates.
    pub(crate) values: Values,
}

impl ProgramEffects {
    /// Finds the effects of a program with these terms of the target and these values, and compiles it; none if there are
    /// no effects.
    ///
    /// # Errors
    /// [`ProgramError`]: the first misuse of the graph.
    pub(crate) fn compile(
        graph: &Graph,
        terms: &[NodeId],
        statements: &[NormalStatement],
        values: &[NodeId],
    ) -> Result<Option<WithEffects>, ProgramError> {
        let mut with_parts = graph.clone();
        let found = find::find(&mut with_parts, terms, statements);
        let graph = &with_parts;
        if found.is_empty() {
            return Ok(None);
        }
        let rewritten = |found: &FoundHierarchy| {
            let walked = coordinates::walked(graph, terms, found)?;
            let natural = coordinates::natural(graph, values, found)?;
            Some((walked, natural, coordinates::likelihood(graph, terms, found)?))
        };
        // Where what links effects would run in a circle, each block is for itself.
        let linked = FoundHierarchy::linked(graph, found.clone());
        let alone = || FoundHierarchy::alone(found);
        let Some((hierarchy, (walked, natural, likelihood))) = rewritten(&linked)
            .map(|made| (linked, made))
            .or_else(|| Some(alone()).and_then(|alone| Some(rewritten(&alone)?).map(|made| (alone, made))))
        else {
            return Ok(None);
        };
        let blocks: Vec<EffectBlock> =
            (0..hierarchy.blocks.len()).map(|number| block(graph, &hierarchy, number)).collect();
        let compiled = |of: &Rewritten| Program::compile_by(&of.graph, of.roots[0], graph.dim());
        let effects = Self {
            places: blocks.iter().flat_map(|block| block.coordinates.clone()).collect(),
            dim: graph.dim(),
            z: Values::compile(&walked.graph, &walked.roots[1..]),
            values: Values::compile(&natural.graph, &natural.roots[..2]),
            x: Values::compile(&natural.graph, &natural.roots[2..3]),
            likelihood: compiled(&likelihood)?,
            blocks,
        };
        let values = Values::compile(&natural.graph, &natural.roots[3..]);
        Ok(Some(WithEffects { effects, walked: compiled(&walked)?, values }))
    }

    pub(crate) fn blocks(&self) -> &[EffectBlock] {
        &self.blocks
    }

    /// Returns the coordinate of each effect, block after block.
    pub(crate) fn places(&self) -> &[usize] {
        &self.places
    }

    /// Returns the instructions for z of each effect and the log-Jacobian.
    ///
    /// # Errors
    /// When an operation has none, or they are too many.
    pub(crate) fn natural_kernel(&self, lanes: u32) -> Result<KernelBody, KernelRefusal> {
        self.z.kernel(self.dim, lanes)
    }

    /// The coordinates and the inputs, one after the other.
    pub(crate) fn position(&self, own: &EffectCoordinates, x: &[f64], position: &mut Vec<f64>) {
        position.clear();
        position.extend_from_slice(x);
        position.extend(own.inputs());
        position.resize(padded(position.len()), 0.0);
    }

    /// The same for the density's own coordinates.
    pub(crate) fn natural_position(&self, x: &[f64], position: &mut Vec<f64>) {
        let effects = self.places.len();
        position.clear();
        position.extend_from_slice(x);
        position.resize(self.dim + 2 * effects, 0.0);
        position.resize(self.dim + 3 * effects, 1.0);
        position.resize(padded(self.dim + 4 * effects), 0.0);
    }

    fn write(&self, values: &Values, position: &[f64], out: &mut [f64]) {
        values.write(&mut values.workspace(), position, out);
    }

    pub(crate) fn make_natural(&self, own: &EffectCoordinates, x: &mut [f64]) -> f64 {
        let (mut position, mut z) = (Vec::new(), vec![0.0; self.places.len() + 1]);
        self.position(own, x, &mut position);
        self.write(&self.z, &position, &mut z);
        for (&place, z) in self.places.iter().zip(&z) {
            x[place] = *z;
        }
        z[self.places.len()]
    }

    pub(crate) fn take_natural(&self, own: &EffectCoordinates, x: &mut [f64]) {
        let (mut position, mut walked) = (Vec::new(), vec![0.0; self.places.len()]);
        self.position(own, x, &mut position);
        self.write(&self.x, &position, &mut walked);
        for (&place, walked) in self.places.iter().zip(&walked) {
            x[place] = *walked;
        }
    }

    pub(crate) fn values(&self, natural: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut position, mut values) = (Vec::new(), vec![0.0; 2 * self.places.len()]);
        self.natural_position(natural, &mut position);
        self.write(&self.values, &position, &mut values);
        let scales = values.split_off(self.places.len());
        (values, scales)
    }

    pub(crate) fn likelihood_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let mut whole = Vec::new();
        self.natural_position(position, &mut whole);
        Ok(self.likelihood.logp_grad(&mut self.likelihood.workspace(), &whole, gradient)?)
    }
}

/// What was found in a program.
pub(crate) struct FoundHierarchy {
    pub(crate) blocks: Vec<FoundEffects>,
    /// For each block the one that has its location.
    pub(crate) links: Vec<Option<ParentLink>>,
}

impl FoundHierarchy {
    fn linked(graph: &Graph, mut blocks: Vec<FoundEffects>) -> Self {
        let links = links::find_links(graph, &mut blocks);
        Self { blocks, links }
    }

    fn alone(blocks: Vec<FoundEffects>) -> Self {
        Self { links: vec![None; blocks.len()], blocks }
    }
}

/// What a block is for a sampler.
fn block(graph: &Graph, hierarchy: &FoundHierarchy, number: usize) -> EffectBlock {
    let found = &hierarchy.blocks[number];
    let first = match graph.nodes[found.parameter.at()] {
        Node::Parameter(first) => first,
        _ => 0,
    };
    EffectBlock {
        label: found.label.clone(),
        coordinates: found.places.iter().map(|place| (first + place) as usize).collect(),
        written: found.written,
        parent: hierarchy.links[number].as_ref().map(|link| link.parent),
        is_plain: found.term.is_none(),
    }
}
