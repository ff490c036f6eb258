//! What the parser makes: the tree of a program whose names and types nobody has looked at yet.

use crate::source::Span;
use crate::tree::{BinaryOp, Index, ProgramBlock, UnaryOp};
use crate::types::{BaseType, StanType};

/// A name where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) form: Form,
    pub(crate) span: Span,
    /// How many expressions are nested in it: whoever walks the tree needs a stack of this height.
    pub(crate) height: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Form {
    Name(String),
    Int(i32),
    Real(f64),
    /// `target()`.
    Target,
    Call(Invocation),
    Array(Vec<Expr>),
    Row(Vec<Expr>),
    Index(Box<Expr>, Vec<Index<Expr>>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<(Expr, Expr)>),
    Conditional(Box<(Expr, Expr, Expr)>),
    Paren(Box<Expr>),
    /// Something that is not supported; it has been reported.
    Refused,
}

/// A function's name and what it is given.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    pub(crate) name: Name,
    pub(crate) arguments: Vec<Expr>,
    /// Whether a bar follows the first argument.
    pub(crate) bar: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub(crate) act: Act,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum Act {
    Declare(Declarations),
    /// A place, an operator if it is compound, a value.
    Assign(Expr, Option<BinaryOp>, Expr),
    Target(Expr),
    Jacobian(Expr),
    Tilde(Box<Sampling>),
    Call(Invocation),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    For(Name, Box<(Expr, Expr)>, Box<Stmt>),
    ForEach(Name, Expr, Box<Stmt>),
    Block(Vec<Stmt>),
    Profile(String, Vec<Stmt>),
    Return(Option<Expr>),
    Break,
    Continue,
    Print(Vec<Item>),
    Reject(Vec<Item>),
    FatalError(Vec<Item>),
    Nothing,
}

/// What is printed: text or a value.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Text(String),
    Value(Expr),
}

/// `variate ~ distribution(arguments) T[lower, upper]`.
#[derive(Clone, Debug)]
pub(crate) struct Sampling {
    pub(crate) variate: Expr,
    pub(crate) distribution: Name,
    pub(crate) arguments: Vec<Expr>,
    pub(crate) lower: Option<Expr>,
    pub(crate) upper: Option<Expr>,
    /// Where the truncation stands.
    pub(crate) truncation: Option<Span>,
}

/// One type and the variables that are declared with it.
#[derive(Clone, Debug)]
pub(crate) struct Declarations {
    pub(crate) sized: Sized,
    /// Each with its first value.
    pub(crate) names: Vec<(Name, Option<Expr>)>,
    /// Whether it stands at the top of a block that is not the model.
    pub(crate) is_global: bool,
}

/// A type with sizes and constraints.
#[derive(Clone, Debug)]
pub(crate) struct Sized {
    /// `None` for a type that is not supported.
    pub(crate) base: Option<BaseType>,
    /// The sizes of the array, then rows and columns.
    pub(crate) sizes: Vec<Expr>,
    /// How many of the sizes are the array's.
    pub(crate) arrays: usize,
    pub(crate) constraint: Bounds,
}

/// A constraint as it is written.
#[derive(Clone, Debug)]
pub(crate) enum Bounds {
    None,
    Range { lower: Option<Expr>, upper: Option<Expr> },
    Affine { offset: Option<Expr>, multiplier: Option<Expr> },
    Named(NamedConstraint),
}

/// A constraint that is the name of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedConstraint {
    Ordered,
    PositiveOrdered,
    Simplex,
    UnitVector,
    SumToZero,
    CholeskyCorr,
    CholeskyCov,
    Corr,
    Cov,
    ColumnStochastic,
    RowStochastic,
}

/// A function, or a declaration of one.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) name: Name,
    /// `None` is void.
    pub(crate) result: Option<Unsized>,
    pub(crate) arguments: Vec<ArgumentSyntax>,
    /// `None` for a declaration without a body.
    pub(crate) body: Option<Vec<Stmt>>,
}

/// A type without sizes; the type is `None` if it is not supported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsized(pub(crate) Option<StanType>);

/// What a function takes.
#[derive(Clone, Debug)]
pub(crate) struct ArgumentSyntax {
    pub(crate) name: Name,
    pub(crate) ty: Unsized,
    /// Whether it must not depend on parameters.
    pub(crate) is_data: bool,
}

/// A whole program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) functions: Vec<Definition>,
    /// The blocks but the functions, in order.
    pub(crate) blocks: Vec<(ProgramBlock, Vec<Stmt>)>,
}
