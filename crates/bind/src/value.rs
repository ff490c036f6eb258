//! Values while a program is bound: whole numbers and data are known, what depends on parameters is nodes of the graph.
//!
//! Elements are kept with the last index fastest. In a loop that is bound for all of its passes at once, a value may have
//! elements for each pass, a *lane*: they stand lane after lane.

use octopus_program::NodeId;
use octopus_stan::StanType;
use std::sync::Arc;

/// One real number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Element {
    /// It depends on no parameter.
    Known(f64),
    /// An element of a node.
    Of(NodeId, u32),
}

/// The reals of a container, or one real.
#[derive(Clone, Debug)]
pub(crate) enum Elements {
    /// All known.
    Data(Arc<[f64]>),
    /// All elements of a node.
    Whole(NodeId),
    /// Each by itself.
    Mixed(Arc<Vec<Element>>),
}

impl Elements {
    pub(crate) fn at(&self, place: usize) -> Element {
        match self {
            Self::Data(values) => Element::Known(values.get(place).copied().unwrap_or(f64::NAN)),
            Self::Whole(node) => Element::Of(*node, place as u32),
            Self::Mixed(elements) => elements.get(place).copied().unwrap_or(Element::Known(f64::NAN)),
        }
    }
}

/// Reals with their type and sizes.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) ty: StanType,
    /// As many as the type has dimensions.
    pub(crate) dims: Vec<usize>,
    /// Whether each lane has elements of its own.
    pub(crate) laned: bool,
    pub(crate) elements: Elements,
}

impl Tensor {
    pub(crate) fn new(ty: StanType, dims: Vec<usize>, laned: bool, elements: Elements) -> Self {
        Self { ty, dims, laned, elements }
    }

    pub(crate) fn data(ty: StanType, dims: Vec<usize>, values: Vec<f64>) -> Self {
        Self::new(ty, dims, false, Elements::Data(values.into()))
    }

    pub(crate) fn scalar(node: NodeId) -> Self {
        Self::new(StanType::REAL, Vec::new(), false, Elements::Whole(node))
    }

    pub(crate) fn number(x: f64) -> Self {
        Self::data(StanType::REAL, Vec::new(), vec![x])
    }

    /// Elements of one lane.
    pub(crate) fn count(&self) -> usize {
        self.dims.iter().product()
    }

    pub(crate) fn is_scalar(&self) -> bool {
        self.dims.is_empty()
    }

    pub(crate) fn with_type(self, ty: StanType) -> Self {
        Self { ty, ..self }
    }

    /// The known values, if all are.
    pub(crate) fn known(&self) -> Option<&[f64]> {
        if let Elements::Data(values) = &self.elements { Some(values) } else { None }
    }
}

/// Whole numbers with their sizes.
#[derive(Clone, Debug)]
pub(crate) struct Ints {
    pub(crate) dims: Vec<usize>,
    pub(crate) laned: bool,
    pub(crate) values: Arc<Vec<i64>>,
}

impl Ints {
    pub(crate) fn count(&self) -> usize {
        self.dims.iter().product()
    }
}

/// A value of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A whole number, the same in all lanes.
    Int(i64),
    /// A known real, the same in all lanes.
    Real(f64),
    /// Whole numbers.
    Ints(Ints),
    /// Reals; comparisons of parameters are 0 or 1 here.
    Reals(Tensor),
    /// What a function without a result gives.
    Void,
}

impl Value {
    pub(crate) fn dims(&self) -> &[usize] {
        match self {
            Self::Ints(ints) => &ints.dims,
            Self::Reals(tensor) => &tensor.dims,
            _ => &[],
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.dims().iter().product()
    }

    /// All numbers, if they are known.
    pub(crate) fn numbers(&self) -> Option<Vec<f64>> {
        match self {
            Self::Int(x) => Some(vec![*x as f64]),
            Self::Real(x) => Some(vec![*x]),
            Self::Ints(ints) => Some(ints.values.iter().map(|&x| x as f64).collect()),
            Self::Reals(tensor) => Some(tensor.known()?.to_vec()),
            Self::Void => None,
        }
    }

    pub(crate) fn is_laned(&self) -> bool {
        match self {
            Self::Ints(ints) => ints.laned,
            Self::Reals(tensor) => tensor.laned,
            _ => false,
        }
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Self {
        match &tensor.elements {
            Elements::Data(values) if tensor.dims.is_empty() && !tensor.laned && tensor.ty == StanType::REAL => {
                Self::Real(values.first().copied().unwrap_or(f64::NAN))
            }
            _ => Self::Reals(tensor),
        }
    }
}

impl From<Ints> for Value {
    fn from(ints: Ints) -> Self {
        match (ints.dims.is_empty() && !ints.laned, ints.values.first()) {
            (true, Some(&one)) => Self::Int(one),
            _ => Self::Ints(ints),
        }
    }
}
