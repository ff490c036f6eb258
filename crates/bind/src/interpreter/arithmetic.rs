//! Operations element by element, over values of equal sizes and scalars.

use super::{Interpreter, Run, wrong};
use crate::value::{Elements, Tensor};
use octopus_program::{NodeId, Op};
use octopus_stan::{Span, StanType};

/// What operands have in common.
pub(crate) struct SharedSizes {
    pub(crate) ty: StanType,
    pub(crate) dims: Vec<usize>,
    pub(crate) laned: bool,
}

impl SharedSizes {
    pub(crate) fn count(&self) -> usize {
        self.dims.iter().product()
    }
}

impl Interpreter<'_> {
    /// The sizes that containers share; scalars fit all.
    pub(crate) fn shared(&self, args: &[Tensor], span: Span) -> Run<SharedSizes> {
        let mut shared = SharedSizes { ty: StanType::REAL, dims: Vec::new(), laned: args.iter().any(|arg| arg.laned) };
        for arg in args.iter().filter(|arg| !arg.is_scalar()) {
            if shared.dims.is_empty() {
                shared.dims.clone_from(&arg.dims);
                shared.ty = arg.ty.with_reals();
            } else if shared.dims != arg.dims && shared.count() != arg.count() {
                return wrong(span, format!("sizes differ: {} and {}", sizes(&shared.dims), sizes(&arg.dims)));
            }
        }
        Ok(shared)
    }

    /// A node with an element for each of the shared ones, or a scalar that serves all.
    pub(crate) fn spread(&mut self, arg: &Tensor, shared: &SharedSizes) -> NodeId {
        let node = self.node(arg);
        let (count, lanes) = (shared.count(), self.lane_count());
        let is_single = arg.is_scalar();
        if !shared.laned || (is_single && !arg.laned) || count == 0 {
            return node;
        }
        match (arg.laned, is_single) {
            (true, true) if count > 1 => {
                let places = (0..lanes as u32).flat_map(|lane| std::iter::repeat_n(lane, count)).collect();
                self.gather(node, places)
            }
            (false, _) => {
                let places = (0..lanes).flat_map(|_| 0..count as u32).collect();
                self.gather(node, places)
            }
            _ => node,
        }
    }

    /// An operation on each element.
    pub(crate) fn apply(&mut self, op: Op, args: &[Tensor], span: Span) -> Run<Tensor> {
        if let Some(value) = self.computed(args, span, &|operands| op.value(operands))? {
            return Ok(value);
        }
        let shared = self.shared(args, span)?;
        let nodes: Vec<NodeId> = args.iter().map(|arg| self.spread(arg, &shared)).collect();
        let node = self.graph.apply(op, &nodes);
        Ok(self.whole(node, shared))
    }

    /// A function of known elements, up to three of them; none where an element depends on parameters.
    pub(crate) fn computed(
        &mut self,
        args: &[Tensor],
        span: Span,
        of: &dyn Fn([f64; 3]) -> f64,
    ) -> Run<Option<Tensor>> {
        let mut operands = [0.0; 3];
        let single = |arg: &Tensor| if arg.is_scalar() && !arg.laned { arg.known()?.first().copied() } else { None };
        if args.iter().zip(&mut operands).all(|(arg, operand)| single(arg).map(|x| *operand = x).is_some()) {
            self.work(1, span)?;
            return Ok(Some(Tensor::number(of(operands))));
        }
        let shared = self.shared(args, span)?;
        let lanes = if shared.laned { self.lane_count() } else { 1 };
        let count = self.room(&shared.dims, span)?;
        self.room(&[count, lanes], span)?;
        let known: Option<Vec<&[f64]>> = args.iter().map(Tensor::known).collect();
        let Some(known) = known else { return Ok(None) };
        let place = |arg: &Tensor, i: usize| match (arg.laned, arg.is_scalar()) {
            (false, true) => 0,
            (true, true) => i / count.max(1),
            (false, false) => i % count.max(1),
            (true, false) => i,
        };
        let value = |i: usize| {
            let mut operands = [0.0; 3];
            for ((operand, arg), values) in operands.iter_mut().zip(args).zip(&known) {
                *operand = values[place(arg, i)];
            }
            of(operands)
        };
        let values: Vec<f64> = (0..lanes * count).map(value).collect();
        Ok(Some(Tensor::new(shared.ty, shared.dims, shared.laned, Elements::Data(values.into()))))
    }

    /// A node as a value of the shared sizes.
    pub(crate) fn whole(&mut self, node: NodeId, shared: SharedSizes) -> Tensor {
        let lanes = if shared.laned { self.lane_count() } else { 1 };
        let count = shared.count() * lanes;
        let node = if count == 0 { node } else { self.graph.broadcast(node, count) };
        let elements = match self.graph.depends_on_parameters(node) {
            true => Elements::Whole(node),
            false => Elements::Data(self.known_elements(node, count).unwrap_or_default().into()),
        };
        Tensor::new(shared.ty, shared.dims, shared.laned, elements)
    }

    pub(crate) fn add(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Run<Tensor> {
        self.apply(Op::Add, &[a.clone(), b.clone()], span)
    }

    pub(crate) fn sub(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Run<Tensor> {
        self.apply(Op::Sub, &[a.clone(), b.clone()], span)
    }

    pub(crate) fn mul(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Run<Tensor> {
        self.apply(Op::Mul, &[a.clone(), b.clone()], span)
    }

    pub(crate) fn div(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Run<Tensor> {
        self.apply(Op::Div, &[a.clone(), b.clone()], span)
    }

    /// The columns of a container in its last dimension, each with an element for each lane and each row before.
    pub(crate) fn last_columns(&mut self, a: &Tensor) -> Vec<Tensor> {
        let width = a.dims.last().copied().unwrap_or(1);
        let mut dims = a.dims.clone();
        dims.pop();
        let rows = dims.iter().product::<usize>() * if a.laned { self.lane_count() } else { 1 };
        // Columns without rows are all the same, and there may be very many.
        let width = if rows == 0 { width.min(1) } else { width };
        let ty = if dims.is_empty() {
            StanType::REAL
        } else {
            StanType::array(octopus_stan::BaseType::Real, dims.len() as u8)
        };
        self.budget.count(width);
        (0..width)
            .map(|k| {
                let places = (0..rows).map(|row| (row * width + k) as u32).collect();
                let elements = self.pick(&a.elements, places);
                Tensor::new(ty, dims.clone(), a.laned, elements)
            })
            .collect()
    }

    /// The sum of all elements of each lane.
    pub(crate) fn sum_of(&mut self, a: &Tensor) -> Tensor {
        Tensor { dims: Vec::new(), ..self.sums_of(a, 1) }
    }

    /// The elements of each lane in so many parts of equal length, and the sum of each part.
    pub(crate) fn sums_of(&mut self, a: &Tensor, parts: usize) -> Tensor {
        let lanes = parts * if a.laned { self.lane_count() } else { 1 };
        let count = a.count() / parts;
        let shared = SharedSizes { ty: StanType::REAL, dims: vec![parts], laned: a.laned };
        if let Some(values) = a.known() {
            let sums: Vec<f64> = if count == 0 {
                vec![0.0; lanes]
            } else {
                values.chunks(count).map(|chunk| chunk.iter().sum()).collect()
            };
            return Tensor::new(shared.ty, shared.dims, shared.laned, Elements::Data(sums.into()));
        }
        let node = self.node(a);
        let node = if lanes == 1 {
            self.graph.sum(node)
        } else {
            let table = (0..lanes as u32).flat_map(|lane| std::iter::repeat_n(lane, count)).collect();
            let table = self.table(table);
            self.graph.segment_sum(node, table, lanes)
        };
        self.whole(node, shared)
    }
}

/// Sizes as in Stan: `[2, 3]`.
pub(crate) fn sizes(dims: &[usize]) -> String {
    format!("{dims:?}")
}
