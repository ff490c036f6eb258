//! The checked tree of a program: every expression has its type, every name its declaration, every call its signature.

use crate::signatures::Signature;
use crate::source::Span;
use crate::types::StanType;

/// The blocks of a program in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProgramBlock {
    /// `functions`.
    Functions,
    /// `data`.
    Data,
    /// `transformed data`.
    TransformedData,
    /// `parameters`.
    Parameters,
    /// `transformed parameters`.
    TransformedParameters,
    /// `model`.
    Model,
    /// `generated quantities`.
    GeneratedQuantities,
}

impl ProgramBlock {
    /// All of them in order.
    pub const ALL: [Self; 7] = [
        Self::Functions,
        Self::Data,
        Self::TransformedData,
        Self::Parameters,
        Self::TransformedParameters,
        Self::Model,
        Self::GeneratedQuantities,
    ];

    /// Its name in the language.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Functions => "functions",
            Self::Data => "data",
            Self::TransformedData => "transformed data",
            Self::Parameters => "parameters",
            Self::TransformedParameters => "transformed parameters",
            Self::Model => "model",
            Self::GeneratedQuantities => "generated quantities",
        }
    }
}

/// A variable's number: its place in [`StanProgram::variables`](crate::StanProgram::variables).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub usize);

/// A function's number: its place in [`StanProgram::functions`](crate::StanProgram::functions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub usize);

/// A name that stands for a value.
#[derive(Clone, Debug, PartialEq)]
pub struct StanVariable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: StanType,
    /// Where it comes from.
    pub role: VariableRole,
    /// Whether its value never depends on a parameter.
    pub is_data: bool,
    /// The name in its declaration.
    pub span: Span,
}

/// Where a variable comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableRole {
    /// Declared at the top of a block: part of the program's interface, but for the model's.
    Global(ProgramBlock),
    /// Declared inside of a block or a function.
    Local(ProgramBlock),
    /// What a function takes.
    Argument,
    /// What a loop runs over.
    Loop(ProgramBlock),
}

/// A function that the program defines.
#[derive(Clone, Debug, PartialEq)]
pub struct StanFunction {
    /// Its name.
    pub name: String,
    /// What it takes and gives.
    pub signature: Signature,
    /// Its arguments, in order.
    pub arguments: Vec<VariableId>,
    /// What it does.
    pub body: Vec<Statement>,
    /// Its name, where its body is.
    pub span: Span,
}

/// A value that is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// How.
    pub kind: ExpressionKind,
    /// Its type.
    pub ty: StanType,
    /// Whether it never depends on a parameter.
    pub is_data: bool,
    /// Where it stands.
    pub span: Span,
}

/// How a value is computed.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// A variable's value.
    Variable(VariableId),
    /// A whole number.
    Int(i32),
    /// A real number.
    Real(f64),
    /// `target()`, the log density so far.
    Target,
    /// Integers made reals, in arrays too.
    Promoted(Box<Expression>),
    /// A function's value.
    Call(Call),
    /// `{a, b}`, its elements of one type.
    Array(Vec<Expression>),
    /// `[a, b]`: a row of reals, or a matrix of rows, by the expression's type.
    Row(Vec<Expression>),
    /// `a[i, j]`, at most as many indices as dimensions.
    Index(Box<Expression>, Vec<Index>),
    /// An operator before or behind its operand.
    Unary(UnaryOp, Box<Expression>),
    /// An operator between its operands, left and right.
    Binary(BinaryOp, Box<(Expression, Expression)>),
    /// `a ? b : c`, both values of the expression's type.
    Conditional(Box<(Expression, Expression, Expression)>),
}

/// One index of an array, a vector or a matrix; all counts begin with 1 and ends belong to them.
#[derive(Clone, Debug, PartialEq)]
pub enum Index<E = Expression> {
    /// All elements.
    All,
    /// One element, which takes the dimension away.
    Single(E),
    /// The elements whose numbers an array of integers has.
    Multiple(E),
    /// From a number on.
    From(E),
    /// Up to a number.
    UpTo(E),
    /// From a number to a number.
    Between(E, E),
}

/// A function with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Whose function it is.
    pub callee: Callee,
    /// Its name as it is written, `_lupdf` and `_lupmf` for densities without their constants.
    pub name: String,
    /// What the name's suffix makes of it.
    pub suffix: Suffix,
    /// The signature that fits; the arguments have its types.
    pub signature: Signature,
    /// What it is given.
    pub arguments: Vec<Expression>,
    /// The name in the text.
    pub span: Span,
}

/// Whose function a call is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// The program's own.
    User(FunctionId),
    /// The math library's.
    Math,
    /// The math library's solver of differential equations ([`OdeSolver`](crate::OdeSolver)), for this function of the
    /// program, which is not among the arguments.
    Solver(FunctionId),
}

/// The kind of a function by its name's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suffix {
    /// No suffix that means something.
    Plain,
    /// `_lpdf`, or `_lupdf` without constants.
    Density {
        /// Whether terms that are constant may be left out.
        unnormalised: bool,
    },
    /// `_lpmf`, or `_lupmf` without constants.
    Mass {
        /// Whether terms that are constant may be left out.
        unnormalised: bool,
    },
    /// `_cdf`.
    Cdf,
    /// `_lcdf`.
    LogCdf,
    /// `_lccdf`.
    LogComplementaryCdf,
    /// `_rng`.
    Rng,
    /// `_lp`: it may add to the target.
    Target,
    /// `_jacobian`: it may add to the log Jacobian.
    Jacobian,
}

impl Suffix {
    /// The kind of the function of this name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let ends = |suffix: &str| name.ends_with(suffix);
        match () {
            () if ends("_rng") => Self::Rng,
            () if ends("_lp") => Self::Target,
            () if ends("_jacobian") => Self::Jacobian,
            () if ends("_lpdf") => Self::Density { unnormalised: false },
            () if ends("_lupdf") => Self::Density { unnormalised: true },
            () if ends("_lpmf") => Self::Mass { unnormalised: false },
            () if ends("_lupmf") => Self::Mass { unnormalised: true },
            () if ends("_lcdf") => Self::LogCdf,
            () if ends("_lccdf") => Self::LogComplementaryCdf,
            () if ends("_cdf") => Self::Cdf,
            () => Self::Plain,
        }
    }

    /// Whether its first argument is the variate, with a bar behind it.
    #[must_use]
    pub fn has_bar(self) -> bool {
        matches!(self, Self::Density { .. } | Self::Mass { .. } | Self::Cdf | Self::LogCdf | Self::LogComplementaryCdf)
    }

    /// Whether it is a density or a mass function without its constants.
    #[must_use]
    pub fn is_unnormalised(self) -> bool {
        matches!(self, Self::Density { unnormalised: true } | Self::Mass { unnormalised: true })
    }
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-a`.
    Negate,
    /// `+a`.
    Plus,
    /// `!a`.
    Not,
    /// `a'`.
    Transpose,
}

impl UnaryOp {
    /// As it is written.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Negate => "-",
            Self::Plus => "+",
            Self::Not => "!",
            Self::Transpose => "'",
        }
    }

    /// The function of the math library that it is.
    #[must_use]
    pub fn function(self) -> &'static str {
        match self {
            Self::Negate => "minus",
            Self::Plus => "plus",
            Self::Not => "logical_negation",
            Self::Transpose => "transpose",
        }
    }
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `a || b`.
    Or,
    /// `a && b`.
    And,
    /// `a == b`.
    Equal,
    /// `a != b`.
    NotEqual,
    /// `a < b`.
    Less,
    /// `a <= b`.
    LessOrEqual,
    /// `a > b`.
    Greater,
    /// `a >= b`.
    GreaterOrEqual,
    /// `a + b`.
    Add,
    /// `a - b`.
    Subtract,
    /// `a * b`, of matrices too.
    Multiply,
    /// `a / b`: of integers towards zero, by a matrix `a * inverse(b)`.
    Divide,
    /// `a % b`, of integers.
    Modulo,
    /// `a .* b`, element by element.
    ElementMultiply,
    /// `a ./ b`, element by element.
    ElementDivide,
    /// `a %/% b`, of integers towards zero.
    IntegerDivide,
    /// `a \ b`, `inverse(a) * b`.
    LeftDivide,
    /// `a ^ b`, element by element.
    Power,
    /// `a .^ b`, element by element.
    ElementPower,
}

impl BinaryOp {
    /// As it is written.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::ElementMultiply => ".*",
            Self::ElementDivide => "./",
            Self::IntegerDivide => "%/%",
            Self::LeftDivide => "\\",
            Self::Power => "^",
            Self::ElementPower => ".^",
        }
    }

    /// The functions of the math library that it is: the first one that takes the operands.
    #[must_use]
    pub fn functions(self) -> &'static [&'static str] {
        match self {
            Self::Or => &["logical_or"],
            Self::And => &["logical_and"],
            Self::Equal => &["logical_eq"],
            Self::NotEqual => &["logical_neq"],
            Self::Less => &["logical_lt"],
            Self::LessOrEqual => &["logical_lte"],
            Self::Greater => &["logical_gt"],
            Self::GreaterOrEqual => &["logical_gte"],
            Self::Add => &["add"],
            Self::Subtract => &["subtract"],
            Self::Multiply => &["multiply"],
            Self::Divide => &["mdivide_right", "divide"],
            Self::Modulo => &["modulus"],
            Self::ElementMultiply => &["elt_multiply"],
            Self::ElementDivide => &["elt_divide"],
            // `%/%` is for integers alone and in no library.
            Self::IntegerDivide => &[],
            Self::LeftDivide => &["mdivide_left"],
            Self::Power | Self::ElementPower => &["pow"],
        }
    }

    /// Whether it compares: `==`, `<` and the like.
    #[must_use]
    pub fn compares(self) -> bool {
        matches!(
            self,
            Self::Equal | Self::NotEqual | Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual
        )
    }
}

/// What is done, where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What.
    pub kind: StatementKind,
    /// Where.
    pub span: Span,
}

/// What is done.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// A variable is declared, and may get its first value.
    Declare(Declaration),
    /// A variable, or elements of it, get a value.
    Assign {
        /// What gets it.
        to: LValue,
        /// The operator of `+=` and the like.
        op: Option<BinaryOp>,
        /// The value.
        value: Expression,
    },
    /// `target += a`, the sum of all of its elements.
    Target(Expression),
    /// `jacobian += a`, the sum of all of its elements.
    Jacobian(Expression),
    /// `y ~ d(a)`.
    Tilde(Tilde),
    /// A function that gives nothing.
    Call(Call),
    /// `if`.
    If {
        /// An integer; all but 0 is true.
        condition: Expression,
        /// What is done if it is true.
        then: Vec<Statement>,
        /// What is done if it is not.
        otherwise: Vec<Statement>,
    },
    /// `while`.
    While {
        /// An integer; all but 0 is true.
        condition: Expression,
        /// What is done again and again.
        body: Vec<Statement>,
    },
    /// `for (i in a:b)`.
    For {
        /// The integer that counts.
        variable: VariableId,
        /// The first number.
        from: Expression,
        /// The last number; nothing is done if it is less than the first.
        to: Expression,
        /// What is done for each.
        body: Vec<Statement>,
    },
    /// `for (x in a)`: each element of an array, vector or matrix, the latter column by column.
    ForEach {
        /// The element.
        variable: VariableId,
        /// What has the elements.
        over: Expression,
        /// What is done for each.
        body: Vec<Statement>,
    },
    /// Braces: a scope.
    Block(Vec<Statement>),
    /// `profile("name") { }`: a scope whose time is measured.
    Profile {
        /// Its name.
        name: String,
        /// What is measured.
        body: Vec<Statement>,
    },
    /// The function ends, with its value unless it has none.
    Return(Option<Expression>),
    /// The loop ends.
    Break,
    /// The loop goes on with its next pass.
    Continue,
    /// `print`.
    Print(Vec<Printable>),
    /// `reject`: the point is out of the support.
    Reject(Vec<Printable>),
    /// `fatal_error`: the program ends.
    FatalError(Vec<Printable>),
}

/// What is printed.
#[derive(Clone, Debug, PartialEq)]
pub enum Printable {
    /// A text, without its quotation marks.
    Text(String),
    /// A value.
    Value(Expression),
}

/// A variable with the sizes and the constraint of its declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Which.
    pub variable: VariableId,
    /// Its sizes, first the array's; as many as its type has dimensions.
    pub sizes: Vec<Expression>,
    /// What its elements obey.
    pub constraint: Constraint,
    /// Its first value.
    pub value: Option<Expression>,
}

/// What a variable's elements obey. Bounds are scalars or have the variable's type.
#[derive(Clone, Debug, PartialEq)]
pub enum Constraint {
    /// Nothing.
    None,
    /// `<lower=a>`.
    Lower(Expression),
    /// `<upper=b>`.
    Upper(Expression),
    /// `<lower=a, upper=b>`.
    LowerUpper(Expression, Expression),
    /// `<offset=a>`, `<multiplier=b>`, or both; it constrains nothing: the unconstrained number is `(x - a) / b`.
    Affine {
        /// a, else 0.
        offset: Option<Expression>,
        /// b, else 1.
        multiplier: Option<Expression>,
    },
    /// `ordered`.
    Ordered,
    /// `positive_ordered`.
    PositiveOrdered,
    /// `simplex`.
    Simplex,
    /// `unit_vector`.
    UnitVector,
    /// `sum_to_zero_vector` and `sum_to_zero_matrix`.
    SumToZero,
    /// `cholesky_factor_corr`.
    CholeskyCorr,
    /// `cholesky_factor_cov`.
    CholeskyCov,
    /// `corr_matrix`.
    Corr,
    /// `cov_matrix`.
    Cov,
    /// `column_stochastic_matrix`.
    ColumnStochastic,
    /// `row_stochastic_matrix`.
    RowStochastic,
}

/// What a value is assigned to.
#[derive(Clone, Debug, PartialEq)]
pub struct LValue {
    /// The variable.
    pub variable: VariableId,
    /// Its indices; all but the last brackets' are single.
    pub indices: Vec<Index>,
    /// The type of what is assigned.
    pub ty: StanType,
    /// Where it stands.
    pub span: Span,
}

/// A statement that says what is distributed how.
#[derive(Clone, Debug, PartialEq)]
pub struct Tilde {
    /// The density: its name has `_lupdf` or `_lupmf`, and its first argument is the variate.
    pub density: Call,
    /// The truncation's lower bound.
    pub lower: Option<Expression>,
    /// The truncation's upper bound.
    pub upper: Option<Expression>,
}
