//! The table of scalar operations, one row each: name, operands with their domains, value, slopes.
//!
//! A *primitive* operation has a value: a straight line of exact arithmetic, the same on every back end. A *composite*
//! operation is written in others, which take its place once derivatives are made; its slopes may be better than the
//! ones that its parts would give. The evaluators, the vector kernels and the tests are made from these rows.
//!
//! Values call `Number::exp(a)`, never `a.exp()`: in a kernel of f64 that would be the standard library's.

use crate::error::ProgramError;
use crate::graph::{Graph, NodeId};
use crate::number::{FRAC_1_SQRT_TAU, Number};

/// The numbers that an operand may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Any real number.
    Real,
    /// A number above 0.
    Positive,
    /// A number between 0 and 1.
    Unit,
    /// A number above -1.
    AboveMinusOne,
    /// A number below 1.
    BelowOne,
    /// A number below 0.
    Negative,
    /// 0 for no, any other number for yes.
    Truth,
}

/// Something that composite operations can be written in: nodes of a graph, or plain numbers.
pub trait Algebra {
    /// A value: a node or a number.
    type Value: Copy;
    /// Returns a number.
    fn number(&mut self, x: f64) -> Self::Value;
    /// Returns the operation of some values, as many as its arity.
    fn operate(&mut self, op: Op, args: &[Self::Value]) -> Self::Value;
}

/// Plain numbers as an algebra.
struct Plain<N>(std::marker::PhantomData<N>);

impl<N: Number> Algebra for Plain<N> {
    type Value = N;
    fn number(&mut self, x: f64) -> N {
        N::from_f64(x)
    }
    fn operate(&mut self, op: Op, args: &[N]) -> N {
        let mut padded = [N::from_f64(0.0); 3];
        padded[..args.len()].copy_from_slice(args);
        op.value(padded)
    }
}

/// An operand of a vector kernel: one number for all rows, or one for each.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lanes<'a> {
    Same(f64),
    Each(&'a [f64]),
}

/// Writes an expression of one to three operands to each row of `$out`.
macro_rules! rows {
    ($out:ident, $args:ident, ($a:ident), $value:expr) => {
        match $args[0] {
            Lanes::Each(a) => {
                for (out, &$a) in $out.iter_mut().zip(a) {
                    *out = $value
                }
            }
            Lanes::Same($a) => $out.fill($value),
        }
    };
    ($out:ident, $args:ident, ($a:ident, $b:ident), $value:expr) => {
        match ($args[0], $args[1]) {
            (Lanes::Each(a), Lanes::Each(b)) => {
                for ((out, &$a), &$b) in $out.iter_mut().zip(a).zip(b) {
                    *out = $value
                }
            }
            (Lanes::Each(a), Lanes::Same($b)) => {
                for (out, &$a) in $out.iter_mut().zip(a) {
                    *out = $value
                }
            }
            (Lanes::Same($a), Lanes::Each(b)) => {
                for (out, &$b) in $out.iter_mut().zip(b) {
                    *out = $value
                }
            }
            (Lanes::Same($a), Lanes::Same($b)) => $out.fill($value),
        }
    };
    ($out:ident, $args:ident, ($a:ident, $b:ident, $c:ident), $value:expr) => {
        match ($args[0], $args[1], $args[2]) {
            (Lanes::Each(a), Lanes::Each(b), Lanes::Each(c)) => {
                for (((out, &$a), &$b), &$c) in $out.iter_mut().zip(a).zip(b).zip(c) {
                    *out = $value
                }
            }
            (Lanes::Each(a), Lanes::Each(b), Lanes::Same($c)) => {
                for ((out, &$a), &$b) in $out.iter_mut().zip(a).zip(b) {
                    *out = $value
                }
            }
            (Lanes::Each(a), Lanes::Same($b), Lanes::Each(c)) => {
                for ((out, &$a), &$c) in $out.iter_mut().zip(a).zip(c) {
                    *out = $value
                }
            }
            (Lanes::Each(a), Lanes::Same($b), Lanes::Same($c)) => {
                for (out, &$a) in $out.iter_mut().zip(a) {
                    *out = $value
                }
            }
            (Lanes::Same($a), Lanes::Each(b), Lanes::Each(c)) => {
                for ((out, &$b), &$c) in $out.iter_mut().zip(b).zip(c) {
                    *out = $value
                }
            }
            (Lanes::Same($a), Lanes::Each(b), Lanes::Same($c)) => {
                for (out, &$b) in $out.iter_mut().zip(b) {
                    *out = $value
                }
            }
            (Lanes::Same($a), Lanes::Same($b), Lanes::Each(c)) => {
                for (out, &$c) in $out.iter_mut().zip(c) {
                    *out = $value
                }
            }
            (Lanes::Same($a), Lanes::Same($b), Lanes::Same($c)) => $out.fill($value),
        }
    };
}

macro_rules! count {
    ($($arg:ident)+) => { [$(stringify!($arg)),+].len() };
}

macro_rules! operations {
    (
        |$graph:ident, $out:ident, $g:ident|
        primitive { $(
            $(#[doc = $doc:literal])+
            $name:ident $text:literal ($($arg:ident: $domain:ident),+) = $value:expr, slopes [$($slope:expr),+];
        )+ }
        composite($algebra:ident) { $(
            $(#[doc = $cdoc:literal])+
            $cname:ident $ctext:literal ($($carg:ident: $cdomain:ident),+) = $cvalue:expr, slopes [$($cslope:expr),+];
        )+ }
    ) => {
        /// A scalar operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op {
            $($(#[doc = $doc])+ $name,)+
            $($(#[doc = $cdoc])+ $cname,)+
        }

        impl Op {
            /// All operations.
            pub const ALL: &'static [Op] = &[$(Op::$name,)+ $(Op::$cname,)+];

            /// Returns the operation's name.
            pub fn name(self) -> &'static str {
                match self { $(Op::$name => $text,)+ $(Op::$cname => $ctext,)+ }
            }

            /// Returns the number of operands, 1 to 3.
            pub fn arity(self) -> usize {
                match self { $(Op::$name => count!($($arg)+),)+ $(Op::$cname => count!($($carg)+),)+ }
            }

            /// Returns the numbers that each operand may be.
            pub fn domains(self) -> &'static [Domain] {
                match self {
                    $(Op::$name => &[$(Domain::$domain),+],)+
                    $(Op::$cname => &[$(Domain::$cdomain),+],)+
                }
            }

            /// Returns whether other operations stand in for this one once derivatives are made.
            pub fn is_composite(self) -> bool {
                match self { $(Op::$name => false,)+ $(Op::$cname => true,)+ }
            }

            /// Returns the value; operands beyond the arity are not read.
            #[inline(always)]
            pub fn value<N: Number>(self, args: [N; 3]) -> N {
                match self {
                    $(Op::$name => { operands!(args, $($arg),+); $value })+
                    _ => self.value_of_composite(args),
                }
            }

            #[inline(never)]
            fn value_of_composite<N: Number>(self, args: [N; 3]) -> N {
                let values = &args[..self.arity()];
                self.expand(&mut Plain(std::marker::PhantomData), values)
            }

            /// Writes the operation in primitive ones, composite ones included that are below it in the table.
            pub(crate) fn expand<A: Algebra>(self, $algebra: &mut A, args: &[A::Value]) -> A::Value {
                match self {
                    $(Op::$cname => {
                        let [$($carg),+] = args[..] else { unreachable!("the arity of an operation") };
                        $cvalue
                    })+
                    primitive => $algebra.operate(primitive, args),
                }
            }

            /// Returns what the adjoint of operand `side` gets of `g`, the adjoint of `out`; none where the slope is 0.
            pub(crate) fn slope(
                self,
                $graph: &mut Graph,
                args: [NodeId; 3],
                $out: NodeId,
                $g: NodeId,
                side: usize,
            ) -> Option<NodeId> {
                match self {
                    $(Op::$name => { operands!(args, $($arg),+); pick!(side; $($slope),+) })+
                    $(Op::$cname => { operands!(args, $($carg),+); pick!(side; $($cslope),+) })+
                }
            }
        }

        /// Writes a primitive operation of each row to `out`; vectors are as long as it. Inlined into code that is
        /// compiled for each width of vectors.
        #[inline(always)]
        pub(crate) fn kernel(op: Op, out: &mut [f64], args: [Lanes<'_>; 3]) {
            #[allow(dead_code)]
            type N = f64;
            match op {
                $(Op::$name => rows!(out, args, ($($arg),+), $value),)+
                composite => rows!(out, args, (a, b, c), composite.value_of_composite([a, b, c])),
            }
        }
    };
}

macro_rules! operands {
    ($args:ident, $a:ident) => {
        let [$a, _, _] = $args;
        let _ = $a;
    };
    ($args:ident, $a:ident, $b:ident) => {
        let [$a, $b, _] = $args;
        let _ = ($a, $b);
    };
    ($args:ident, $a:ident, $b:ident, $c:ident) => {
        let [$a, $b, $c] = $args;
        let _ = ($a, $b, $c);
    };
}

macro_rules! pick {
    ($side:ident; $first:expr) => {
        $first
    };
    ($side:ident; $first:expr, $second:expr) => {
        if $side == 0 { $first } else { $second }
    };
    ($side:ident; $first:expr, $second:expr, $third:expr) => {
        match $side {
            0 => $first,
            1 => $second,
            _ => $third,
        }
    };
}

operations! {
    |m, out, g|
    primitive {
        /// a + b
        Add "add" (a: Real, b: Real) = a + b, slopes [Some(g), Some(g)];
        /// a - b
        Sub "subtract" (a: Real, b: Real) = a - b, slopes [Some(g), Some(m.neg(g))];
        /// a b
        Mul "multiply" (a: Real, b: Real) = a * b, slopes [Some(m.mul(g, b)), Some(m.mul(g, a))];
        /// a / b
        Div "divide" (a: Real, b: Positive) = a / b,
            slopes [Some(m.div(g, b)), { let q = m.div(g, b); let t = m.mul(q, out); Some(m.neg(t)) }];
        /// -a
        Neg "negate" (a: Real) = -a, slopes [Some(m.neg(g))];
        /// |a|
        Abs "abs" (a: Real) = Number::abs(a), slopes [{ let s = m.apply(Op::Sign, &[a]); Some(m.mul(g, s)) }];
        /// -1 below 0, else 1
        Sign "sign" (a: Real) = if a.below(N::from_f64(0.0)) { N::from_f64(-1.0) } else { N::from_f64(1.0) },
            slopes [None];
        /// The square root. Its slope at 0 is 0, as Stan's: a power that underflows has none.
        Sqrt "sqrt" (a: Positive) = Number::sqrt(a),
            slopes [{
                let h = m.constant(0.5);
                let t = m.mul(g, h);
                let t = m.div(t, out);
                Some(m.when(out, t))
            }];
        /// The larger number.
        Max "max" (a: Real, b: Real) = if b.below(a) { a } else { b },
            slopes [
                { let c = m.apply(Op::Less, &[b, a]); Some(m.when(c, g)) },
                { let c = m.apply(Op::Less, &[b, a]); Some(m.unless(c, g)) }
            ];
        /// The smaller number.
        Min "min" (a: Real, b: Real) = if a.below(b) { a } else { b },
            slopes [
                { let c = m.apply(Op::Less, &[a, b]); Some(m.when(c, g)) },
                { let c = m.apply(Op::Less, &[a, b]); Some(m.unless(c, g)) }
            ];
        /// 1 where a < b, else 0.
        Less "less" (a: Real, b: Real) = if a.below(b) { N::from_f64(1.0) } else { N::from_f64(0.0) },
            slopes [None, None];
        /// b where a is not 0, else c.
        Select "select" (a: Truth, b: Real, c: Real) = if a.to_f64() != 0.0 { b } else { c },
            slopes [None, Some(m.when(a, g)), Some(m.unless(a, g))];
        /// e^a
        Exp "exp" (a: Real) = Number::exp(a), slopes [Some(m.mul(g, out))];
        /// The natural logarithm.
        Ln "log" (a: Positive) = Number::ln(a), slopes [Some(m.div(g, a))];
        /// The hyperbolic tangent.
        Tanh "tanh" (a: Real) = Number::tanh(a),
            slopes [{ let s = m.mul(out, out); let one = m.constant(1.0); let d = m.sub(one, s); Some(m.mul(g, d)) }];
        /// The standard normal quantile.
        NormalQuantile "inv_Phi" (a: Unit) = Number::normal_quantile(a),
            slopes [{
                let (h, c) = (m.constant(0.5), m.constant(2.506_628_274_631_000_5));
                let s = m.mul(out, out);
                let t = m.mul(h, s);
                let e = m.exp(t);
                let d = m.mul(c, e);
                Some(m.mul(g, d))
            }];
        /// a b + c, both operations rounded.
        MulAdd "multiply_add" (a: Real, b: Real, c: Real) = a * b + c,
            slopes [Some(m.mul(g, b)), Some(m.mul(g, a)), Some(g)];
        /// a b - c, both operations rounded.
        MulSub "multiply_subtract" (a: Real, b: Real, c: Real) = a * b - c,
            slopes [Some(m.mul(g, b)), Some(m.mul(g, a)), Some(m.neg(g))];
        /// c - a b, both operations rounded.
        SubMul "subtract_multiply" (a: Real, b: Real, c: Real) = c - a * b,
            slopes [
                { let t = m.mul(g, b); Some(m.neg(t)) },
                { let t = m.mul(g, a); Some(m.neg(t)) },
                Some(g)
            ];
        /// e^-|a|, at most 1: what the logistic functions are made of.
        ExpMinusAbs "exp_minus_abs" (a: Real) = Number::exp(-Number::abs(a)),
            slopes [{
                let s = m.apply(Op::Sign, &[a]);
                let t = m.mul(out, s);
                let t = m.mul(g, t);
                Some(m.neg(t))
            }];
        /// a + max(b, 0)
        AddPositive "add_positive_part" (a: Real, b: Real)
            = a + (if N::from_f64(0.0).below(b) { b } else { N::from_f64(0.0) }),
            slopes [
                Some(g),
                { let zero = m.constant(0.0); let c = m.apply(Op::Less, &[zero, b]); Some(m.when(c, g)) }
            ];
        /// a where b < 0, else 1.
        WhereNegative "where_negative" (a: Real, b: Real)
            = if b.below(N::from_f64(0.0)) { a } else { N::from_f64(1.0) },
            slopes [
                { let zero = m.constant(0.0); let c = m.apply(Op::Less, &[b, zero]); Some(m.when(c, g)) },
                None
            ];
        /// ln(1 + a)
        Ln1p "log1p" (a: AboveMinusOne) = Number::ln_1p(a),
            slopes [{ let one = m.constant(1.0); let d = m.add(one, a); Some(m.div(g, d)) }];
        /// e^a - 1
        ExpM1 "expm1" (a: Real) = Number::exp_m1(a),
            slopes [{ let one = m.constant(1.0); let d = m.add(one, out); Some(m.mul(g, d)) }];
        /// a^b. Its slopes where a is 0 are 0, as Stan's.
        Pow "pow" (a: Positive, b: Real) = Number::pow(a, b),
            slopes [
                { let q = m.div(out, a); let t = m.mul(b, q); let t = m.mul(g, t); Some(m.when(a, t)) },
                { let l = m.ln(a); let t = m.mul(out, l); let t = m.mul(g, t); Some(m.when(a, t)) }
            ];
        /// ln |Gamma(a)|
        LnGamma "lgamma" (a: Positive) = Number::ln_gamma(a),
            slopes [{ let d = m.apply(Op::Digamma, &[a]); Some(m.mul(g, d)) }];
        /// The slope of ln Gamma.
        Digamma "digamma" (a: Positive) = Number::digamma(a),
            slopes [{ let d = m.apply(Op::Trigamma, &[a]); Some(m.mul(g, d)) }];
        /// The slope of digamma; it has no slope of its own.
        Trigamma "trigamma" (a: Positive) = Number::trigamma(a),
            slopes [Some(m.refuse(ProgramError::NoSlope { operation: "trigamma" }))];
        /// The standard normal distribution function.
        Phi "Phi" (a: Real) = Number::phi(a),
            slopes [{
                let (half, scale) = (m.constant(-0.5), m.constant(FRAC_1_SQRT_TAU));
                let square = m.mul(a, a);
                let t = m.mul(half, square);
                let e = m.exp(t);
                let d = m.mul(scale, e);
                Some(m.mul(g, d))
            }];
        /// The logarithm of the standard normal distribution function.
        LnPhi "std_normal_lcdf" (a: Real) = Number::ln_phi(a),
            slopes [{ let d = m.apply(Op::LnPhiSlope, &[a]); Some(m.mul(g, d)) }];
        /// The slope of ln Phi: the density over the distribution function.
        LnPhiSlope "std_normal_lcdf_slope" (a: Real) = Number::ln_phi_slope(a),
            slopes [{ let s = m.add(a, out); let d = m.mul(out, s); let t = m.mul(g, d); Some(m.neg(t)) }];
        /// The sine.
        Sin "sin" (a: Real) = Number::sin(a), slopes [{ let d = m.apply(Op::Cos, &[a]); Some(m.mul(g, d)) }];
        /// The cosine.
        Cos "cos" (a: Real) = Number::cos(a),
            slopes [{ let d = m.apply(Op::Sin, &[a]); let t = m.mul(g, d); Some(m.neg(t)) }];
        /// The inverse tangent.
        Atan "atan" (a: Real) = Number::atan(a),
            slopes [{
                let one = m.constant(1.0);
                let square = m.mul(a, a);
                let d = m.add(one, square);
                Some(m.div(g, d))
            }];
    }
    composite(m) {
        /// a, as a number without a slope: what a formula adds and takes away again.
        Held "held" (a: Real) = { let _ = m; a }, slopes [None];
        /// ln(1 - a)
        Ln1m "log1m" (a: BelowOne) = { let t = m.operate(Op::Neg, &[a]); m.operate(Op::Ln1p, &[t]) },
            slopes [{ let one = m.constant(1.0); let d = m.sub(a, one); Some(m.div(g, d)) }];
        /// ln(1 - e^a): the power has the digits far from 0, the difference has them near it.
        Ln1mExp "log1m_exp" (a: Negative) = {
                let border = m.number(-std::f64::consts::LN_2);
                let (near, far) = (m.operate(Op::Max, &[a, border]), m.operate(Op::Min, &[a, border]));
                let (near, far) = (m.operate(Op::ExpM1, &[near]), m.operate(Op::Exp, &[far]));
                let near = m.operate(Op::Neg, &[near]);
                let (near, far) = (m.operate(Op::Ln, &[near]), m.operate(Op::Ln1m, &[far]));
                let is_near = m.operate(Op::Less, &[border, a]);
                m.operate(Op::Select, &[is_near, near, far])
            },
            slopes [{
                let minus = m.neg(a);
                let d = m.apply(Op::ExpM1, &[minus]);
                let t = m.div(g, d);
                Some(m.neg(t))
            }];
        /// ln(e^-a I0(a)) of the modified Bessel function.
        LnBessel0 "log_bessel_i0_scaled" (a: Positive) = crate::bessel::ln_scaled(m, a),
            slopes [{
                let ratio = m.apply(Op::BesselRatio, &[a]);
                let one = m.constant(1.0);
                let d = m.sub(ratio, one);
                Some(m.mul(g, d))
            }];
        /// I1(a) / I0(a) of the modified Bessel functions.
        BesselRatio "bessel_ratio" (a: Positive) = crate::bessel::ratio(m, a),
            slopes [{
                let (one, share, square) = (m.constant(1.0), m.div(out, a), m.square(out));
                let rest = m.sub(one, square);
                let d = m.sub(rest, share);
                Some(m.mul(g, d))
            }];
        /// The logistic function 1 / (1 + e^-a).
        Sigmoid "inv_logit" (a: Real) = {
                let e = m.operate(Op::ExpMinusAbs, &[a]);
                let one = m.number(1.0);
                let below = m.operate(Op::Add, &[one, e]);
                let above = m.operate(Op::WhereNegative, &[e, a]);
                m.operate(Op::Div, &[above, below])
            },
            slopes [{
                let one = m.constant(1.0);
                let rest = m.sub(one, out);
                let t = m.mul(out, rest);
                Some(m.mul(g, t))
            }];
        /// ln(1 + e^a)
        Softplus "log1p_exp" (a: Real) = {
                let e = m.operate(Op::ExpMinusAbs, &[a]);
                let one = m.number(1.0);
                let s = m.operate(Op::Add, &[one, e]);
                let l = m.operate(Op::Ln, &[s]);
                m.operate(Op::AddPositive, &[l, a])
            },
            slopes [{ let s = m.apply(Op::Sigmoid, &[a]); Some(m.mul(g, s)) }];
        /// ln(e^a + e^b)
        LogSumExp "log_sum_exp" (a: Real, b: Real) = {
                let d = m.operate(Op::Sub, &[a, b]);
                let s = m.operate(Op::Softplus, &[d]);
                m.operate(Op::Add, &[b, s])
            },
            slopes [
                { let d = m.sub(a, b); let s = m.apply(Op::Sigmoid, &[d]); Some(m.mul(g, s)) },
                { let d = m.sub(b, a); let s = m.apply(Op::Sigmoid, &[d]); Some(m.mul(g, s)) }
            ];
    }
}
