//! A compiled program for people: its steps, what each goes over and does.

use crate::operation::Op;
use crate::plan::{Instruction, PackedProgram, PlanStep, ScalarInstruction, SolvePlan};
use crate::program::Program;
use std::collections::BTreeMap;
use std::fmt;

/// One step of a compiled program: a loop, a scan, an operation on matrices, or arithmetic on scalars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepSummary {
    /// What it is: `loop`, `scan`, `solve`, `scalars`, `matrix` or `concat`.
    pub kind: &'static str,
    /// The rows or passes that it goes over; 1 for scalars.
    pub rows: usize,
    /// How often each operation stands in it: `exp`, `gather`, `sum`, in alphabetical order.
    pub operations: BTreeMap<String, usize>,
    /// How many operations on numbers one evaluation does in it: the multiplications of an operation on matrices, and
    /// [`STEPS_OF_A_SOLUTION`] steps of a solution of differential equations.
    pub work: usize,
}

/// Steps that a solution of differential equations is taken to have, where work is estimated: it is known at a point only.
pub const STEPS_OF_A_SOLUTION: usize = 64;

impl fmt::Display for StepSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operations: Vec<String> = self
            .operations
            .iter()
            .map(|(name, &count)| if count == 1 { name.clone() } else { format!("{count} {name}") })
            .collect();
        write!(f, "{:<8} x {:<9} {}", self.kind, self.rows, operations.join(", "))
    }
}

impl Program {
    /// Returns the steps of one evaluation of log density and gradient, in order.
    pub fn steps(&self) -> Vec<StepSummary> {
        self.plan().steps.iter().map(summary).collect()
    }
}

impl PackedProgram {
    /// About how many operations on numbers an evaluation does.
    pub(crate) fn work(&self) -> usize {
        self.steps.iter().map(|step| summary(step).work).fold(0, usize::saturating_add)
    }
}

fn summary(step: &PlanStep) -> StepSummary {
    let (kind, rows, names): (_, _, Vec<String>) = match step {
        PlanStep::Scalars(code) => ("scalars", 1, code.iter().map(of_scalar).collect()),
        PlanStep::Loop(rows) => ("loop", rows.rows, rows.code.iter().flat_map(of_row).collect()),
        PlanStep::Scan(scan) => ("scan", scan.steps, scan.code.iter().map(|code| code.op.name().to_owned()).collect()),
        PlanStep::Solve(solve) => ("solve", solve.problem.times.len(), vec![of_solution(solve)]),
        PlanStep::Matrix { op, .. } => ("matrix", op.length(), vec![first_word(&format!("{op:?}"))]),
        PlanStep::Concat { pieces, .. } => {
            ("concat", pieces.iter().map(|(_, length)| length).sum(), vec!["copy".to_owned()])
        }
    };
    let each = match step {
        PlanStep::Scan(scan) => scan.operands.len(),
        PlanStep::Solve(solve) => STEPS_OF_A_SOLUTION.saturating_mul(solve.problem.work_of_a_step()),
        PlanStep::Matrix { op, .. } => op.work(),
        _ => names.len(),
    };
    let times = if matches!(step, PlanStep::Loop(_) | PlanStep::Scan(_) | PlanStep::Concat { .. }) { rows } else { 1 };
    let mut operations = BTreeMap::new();
    names.into_iter().for_each(|name| *operations.entry(name).or_insert(0) += 1);
    StepSummary { kind, rows, operations, work: times.saturating_mul(each) }
}

/// The solver's name, with the numbers of states and of slopes that are integrated.
fn of_solution(solve: &SolvePlan) -> String {
    let problem = &solve.problem;
    let slopes = if solve.slopes.is_some() { problem.states() * problem.directions() } else { 0 };
    format!("{} ({} states, {slopes} slopes)", problem.name, problem.states())
}

fn of_scalar(code: &ScalarInstruction) -> String {
    match code {
        ScalarInstruction::Map { op, .. } => op.name().to_owned(),
        ScalarInstruction::Element { .. } => "element".to_owned(),
    }
}

/// The names of what an instruction does.
fn of_row(code: &Instruction) -> Vec<String> {
    let name = match code {
        Instruction::Dots { count, .. } => return vec!["dot".to_owned(); *count as usize],
        Instruction::Columns { count, .. } => return vec![Op::MulAdd.name().to_owned(); *count as usize],
        Instruction::Map { op, .. } => op.name().to_owned(),
        Instruction::Gather { .. } => "gather".to_owned(),
        Instruction::Store { .. } => "store".to_owned(),
        Instruction::Sum { .. } => "sum".to_owned(),
        Instruction::Dot { .. } => "dot".to_owned(),
        Instruction::SegmentSum { .. } => "sum by segment".to_owned(),
    };
    vec![name]
}

fn first_word(text: &str) -> String {
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use crate::graph::Graph;
    use crate::matrix::Matrix;
    use crate::operation::Op;
    use crate::program::Program;

    #[test]
    fn a_loop_says_what_it_goes_over_and_does() {
        let mut graph = Graph::new();
        let x = graph.parameter(1);
        let y = graph.column(vec![1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0, 55.0]);
        let off = graph.sub(y, x);
        let raised = graph.exp(off);
        let target = graph.sum(raised);
        let steps = Program::compile(&graph, target).unwrap().steps();
        let loops: Vec<_> = steps.iter().filter(|step| step.kind == "loop").collect();
        assert!(!loops.is_empty() && loops.iter().all(|step| step.rows == 9), "{steps:?}");
        assert!(loops[0].operations.contains_key(Op::Exp.name()), "{steps:?}");
        assert!(loops[0].to_string().starts_with("loop     x 9"), "{}", loops[0]);
        assert_eq!(loops[0].work, 9 * loops[0].operations.values().sum::<usize>());
    }

    /// A factor of 30 rows takes 30^3 / 6 multiplications for large parts, a product of such matrices 30^3.
    #[test]
    fn operations_on_matrices_count_their_multiplications() {
        let mut graph = Graph::new();
        let a = graph.parameter(900);
        let l = graph.cholesky(a, 30);
        let square = graph.product(Matrix::new(l, 30, 30), Matrix::new(l, 30, 30).t());
        let target = graph.sum(square);
        let steps = Program::compile(&graph, target).unwrap().steps();
        let work: Vec<usize> = steps.iter().filter(|step| step.kind == "matrix").map(|step| step.work).collect();
        assert!(work.contains(&27_000) && work.contains(&4_960), "{steps:?}");
    }
}
