//! Calls of solvers: the first argument names a function of the program, whose types say what follows.

use super::Checker;
use super::expression::{argument, promoted};
use crate::message::Finding;
use crate::overload::{self, Match, Mismatch};
use crate::signatures::{ArgumentType, Signature};
use crate::solvers::OdeSolver;
use crate::syntax::{Form, Invocation, Name};
use crate::tree::{Call, Callee, FunctionId, Suffix};
use crate::types::{BaseType, StanType};

const REALS: StanType = StanType::array(BaseType::Real, 1);
const INTS: StanType = StanType::array(BaseType::Int, 1);

impl Checker<'_> {
    /// The solver of this name, unless the program has a function of the name.
    pub(super) fn solver_named(&self, name: &str) -> Option<OdeSolver> {
        OdeSolver::named(name).filter(|_| !self.by_name.contains_key(name))
    }

    /// A call of a solver.
    pub(super) fn solver_call(&mut self, solver: OdeSolver, call: &Invocation) -> Option<Call> {
        let Invocation { name, arguments, bar } = call;
        let Some((first, rest)) = arguments.split_first() else {
            return self.refuse(Finding::meaning(name.span, shape_of(solver)));
        };
        let rest = self.expressions(rest);
        if *bar {
            self.report(Finding::meaning(name.span, format!("`{}` takes no bar", name.text)).help("write a comma"));
        }
        let Form::Name(text) = &first.form else {
            let message = format!("the first argument of `{}` is the name of a function", name.text);
            return self.refuse(Finding::meaning(first.span, message).help(shape_of(solver)));
        };
        let ids = self.by_name.get(text).cloned().unwrap_or_default();
        if ids.is_empty() {
            let message = format!("there is no function `{text}` for `{}` to solve", name.text);
            return self.refuse(Finding::meaning(first.span, message).help(shape_of(solver)));
        }
        if ids.iter().any(|id| !self.functions[id.0].is_known) {
            return None;
        }
        if !matches!(Suffix::of(text), Suffix::Plain) {
            let message = format!("`{text}` cannot be solved: it draws numbers or adds to the density by its name");
            return self.refuse(Finding::meaning(first.span, message).help("rename it"));
        }
        let candidates: Vec<(FunctionId, Signature)> = ids
            .iter()
            .flat_map(|id| forms(solver, &self.functions[id.0].function.signature).into_iter().map(|form| (*id, form)))
            .collect();
        if candidates.is_empty() {
            let message = format!("`{text}` is no right-hand side for `{}`", name.text);
            return self.refuse(Finding::meaning(first.span, message).help(shape_of(solver)));
        }
        let rest = rest?;
        let actual: Vec<ArgumentType> = rest.iter().map(argument).collect();
        match overload::choose(candidates.iter().map(|(id, form)| (*id, form)), &actual) {
            Match::One(id, signature) => {
                let arguments =
                    rest.into_iter().zip(&signature.arguments).map(|(it, wanted)| promoted(it, wanted.ty)).collect();
                let (callee, suffix) = (Callee::Solver(id), Suffix::Plain);
                Some(Call { callee, name: name.text.clone(), suffix, signature, arguments, span: name.span })
            }
            Match::Several(_) => {
                let message = format!("`{text}` has several forms that `{}` could solve", name.text);
                self.refuse(Finding::meaning(first.span, message).help("make integers reals: `1.0 * n`"))
            }
            Match::None(nearest) => {
                let finding = solver_misfit(name, text, &actual, &nearest);
                let place = match nearest.first() {
                    Some((_, Mismatch::Type(at) | Mismatch::Data(at))) => rest.get(*at).map_or(name.span, |it| it.span),
                    _ => name.span,
                };
                self.refuse(Finding::meaning(place, finding).help_if(nearest.first().map(|(form, _)| {
                    let wanted: Vec<String> = form.arguments.iter().map(ToString::to_string).collect();
                    format!("it takes `{}({text}, {})`", name.text, wanted.join(", "))
                })))
            }
        }
    }
}

/// What is wrong with the arguments after the function.
fn solver_misfit(name: &Name, function: &str, actual: &[ArgumentType], nearest: &[(Signature, Mismatch)]) -> String {
    let solver = &name.text;
    match nearest.first().map(|(form, mismatch)| (form, *mismatch)) {
        Some((form, Mismatch::Type(at))) => {
            let found = actual.get(at).map_or(String::new(), |it| it.ty.to_string());
            let wanted = form.arguments.get(at).map_or(String::new(), |it| it.ty.to_string());
            format!("argument {} of `{solver}` is `{found}`, expected `{wanted}`", at + 2)
        }
        Some((_, Mismatch::Data(at))) => format!("argument {} of `{solver}` must not depend on parameters", at + 2),
        _ => format!("`{solver}` is given {} arguments after `{function}`", actual.len()),
    }
}

/// What a solver takes after a function of this signature; nothing if that is no right-hand side.
fn forms(solver: OdeSolver, function: &Signature) -> Vec<Signature> {
    let any = |ty| ArgumentType { ty, is_data: false };
    let data = |ty| ArgumentType { ty, is_data: true };
    let (state, result) = match solver.is_old {
        true => (REALS, StanType::array(BaseType::Real, 2)),
        false => (StanType::VECTOR, StanType::array(BaseType::Vector, 1)),
    };
    let own: Vec<StanType> = function.arguments.iter().map(|it| it.ty).collect();
    if function.result != Some(state) || !own.starts_with(&[StanType::REAL, state]) {
        return Vec::new();
    }
    let start = vec![any(state), any(StanType::REAL), any(REALS)];
    let made = |parts: &[&[ArgumentType]]| Signature { arguments: parts.concat(), result: Some(result) };
    if solver.is_old {
        if own[2..] != [REALS, REALS, INTS] {
            return Vec::new();
        }
        let arguments = [any(REALS), data(REALS), data(INTS)];
        return vec![made(&[&start, &arguments]), made(&[&start, &arguments, &[data(StanType::REAL); 3]])];
    }
    let tolerances = [data(StanType::REAL), data(StanType::REAL), data(StanType::INT)];
    let tolerances = if solver.has_tolerances { &tolerances[..] } else { &[] };
    vec![made(&[&start, tolerances, &function.arguments[2..]])]
}

/// How a solver is called.
fn shape_of(solver: OdeSolver) -> String {
    let OdeSolver { name, .. } = solver;
    if solver.is_old {
        return format!(
            "`{name}(f, y0, t0, times, theta, x_r, x_i)`, where `f` is `array[] real f(real t, array[] real y, array[] real \
             theta, array[] real x_r, array[] int x_i)`; `relative, absolute, max_steps` may follow"
        );
    }
    let tolerances = if solver.has_tolerances { "relative, absolute, max_steps, " } else { "" };
    format!("`{name}(f, y0, t0, times, {tolerances}...)`, where `f` is `vector f(real t, vector y, ...)`")
}
