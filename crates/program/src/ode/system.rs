//! The right-hand side of differential equations with its slopes, compiled.

use super::scalars::scalars;
use super::tape::Tape;
use crate::error::ProgramError;
use crate::graph::{Graph, Node, NodeId};

/// Elements of the largest table of slopes.
const MOST_SLOPES: usize = 1 << 20;

/// A slope that is not always 0, with the register of its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SlopeEntry {
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) register: u32,
}

/// dy/dt = f(t, y, p): f alone, and f with its slopes by y and by p, of which only those are kept that are not always 0.
#[derive(Clone, Debug, PartialEq)]
pub struct OdeSystem {
    pub(super) states: usize,
    pub(super) parameters: usize,
    pub(super) values: Tape,
    /// Its first results are the values.
    pub(super) slopes: Tape,
    /// Row by row.
    pub(super) by_state: Vec<SlopeEntry>,
    pub(super) by_parameter: Vec<SlopeEntry>,
}

impl OdeSystem {
    /// Compiles a right-hand side: `derivatives` has an element for each of `states` states, and the graph's parameters
    /// are the time, the states, and the parameters.
    ///
    /// # Errors
    /// [`ProgramError`]: the first misuse of the graph, or an operation that a right-hand side cannot have.
    pub fn compile(graph: &Graph, states: usize, derivatives: NodeId) -> Result<Self, ProgramError> {
        if let Some(error) = graph.fault() {
            return Err(error.clone());
        }
        let derivatives = {
            let mut whole = graph.clone();
            let root = whole.broadcast(derivatives, states);
            if let Some(error) = whole.fault() {
                return Err(error.clone());
            }
            scalars(&whole, root)?
        };
        let (mut graph, mut roots) = derivatives;
        let parameters = graph.dim().saturating_sub(1 + states);
        let length = states.saturating_mul(states + parameters);
        if length > MOST_SLOPES {
            return Err(ProgramError::TooLong { operation: "slopes of a right-hand side", length, most: MOST_SLOPES });
        }
        let values = Tape::new(&graph, &roots, states)?;
        let by = graph.parameters[1..].to_vec();
        let (mut by_state, mut by_parameter) = (Vec::new(), Vec::new());
        for row in 0..states {
            for (column, slope) in graph.gradient(roots[row], &by).into_iter().enumerate() {
                let Some(slope) = slope else { continue };
                if matches!(graph.nodes[slope.at()], Node::Constant(bits) if f64::from_bits(bits) == 0.0) {
                    continue;
                }
                let entry = |column: usize| SlopeEntry { row: row as u32, column: column as u32, register: 0 };
                match column.checked_sub(states) {
                    None => by_state.push((entry(column), slope)),
                    Some(column) => by_parameter.push((entry(column), slope)),
                }
            }
        }
        if let Some(error) = graph.fault() {
            return Err(error.clone());
        }
        roots.extend(by_state.iter().chain(&by_parameter).map(|(_, slope)| *slope));
        let slopes = Tape::new(&graph, &roots, states)?;
        let mut registers = slopes.outputs[states..].iter();
        let mut placed = |entries: Vec<(SlopeEntry, NodeId)>| -> Vec<SlopeEntry> {
            let place = |((entry, _), &register): ((SlopeEntry, NodeId), &u32)| SlopeEntry { register, ..entry };
            entries.into_iter().zip(registers.by_ref()).map(place).collect()
        };
        let (by_state, by_parameter) = (placed(by_state), placed(by_parameter));
        Ok(Self { states, parameters, values, slopes, by_state, by_parameter })
    }
}
