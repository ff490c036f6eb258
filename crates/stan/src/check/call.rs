//! Calls: whose function, which signature, and whether it may be called here.

use super::Checker;
use super::expression::{argument, promoted};
use crate::message::Finding;
use crate::overload::{self, Match, Mismatch};
use crate::refused;
use crate::signatures::{self, ArgumentType, Signature, normalised};
use crate::source::Span;
use crate::suggest::nearest;
use crate::syntax::{Invocation, Name};
use crate::tree::{Call, Callee, Expression, FunctionId, ProgramBlock, Suffix};

impl Checker<'_> {
    /// A call whose value is used.
    pub(super) fn value_of(&mut self, call: &Invocation) -> Option<Call> {
        let checked = self.call(call)?;
        if checked.signature.result.is_none() {
            let message = format!("`{}` gives no value", checked.name);
            return self.refuse(Finding::meaning(checked.span, message).help("call it as a statement of its own"));
        }
        Some(checked)
    }

    /// A call that stands alone.
    pub(super) fn call_alone(&mut self, call: &Invocation) -> Option<Call> {
        let checked = self.call(call)?;
        if checked.signature.result.is_some() {
            let message = format!("the value of `{}` is not used", checked.name);
            return self.refuse(Finding::meaning(checked.span, message).help("assign it to a variable"));
        }
        Some(checked)
    }

    fn call(&mut self, call: &Invocation) -> Option<Call> {
        let Invocation { name, arguments, bar } = call;
        if let Some(solver) = self.solver_named(&name.text) {
            return self.solver_call(solver, call);
        }
        if self.is_refused(name) {
            return None;
        }
        let arguments = self.expressions(arguments);
        self.need_fair_name(name);
        let is_known = self.need_function(name);
        let suffix = Suffix::of(&name.text);
        if is_known.is_some() {
            self.need_bar(name, suffix, *bar);
            self.need_place(name, suffix);
            self.warn_of_function(name, arguments.as_deref());
        }
        let arguments = is_known.and(arguments)?;
        self.resolve(name, &name.text, suffix, arguments)
    }

    /// Chooses the signature; `name` is what messages say, `function` what is looked up.
    fn resolve(&mut self, name: &Name, function: &str, suffix: Suffix, arguments: Vec<Expression>) -> Option<Call> {
        let actual: Vec<ArgumentType> = arguments.iter().map(argument).collect();
        match overload::choose(self.candidates(function), &actual) {
            Match::One(owner, signature) => {
                let callee = owner.map_or(Callee::Math, Callee::User);
                let arguments = arguments
                    .into_iter()
                    .zip(&signature.arguments)
                    .map(|(it, wanted)| promoted(it, wanted.ty))
                    .collect();
                Some(Call { callee, name: function.to_owned(), suffix, signature, arguments, span: name.span })
            }
            // A function with a type that is not supported has been reported, and it might be the one.
            _ if self.own(function).any(|id| !self.functions[id.0].is_known) => None,
            Match::Several(several) => {
                let types = written(&actual);
                let message = format!("`{}({types})` fits several functions equally well", name.text);
                let help = listed("they are", &name.text, &several);
                self.refuse(Finding::meaning(name.span, message).help(help).help("make integers reals: `1.0 * n`"))
            }
            Match::None(nearest) => {
                let finding = self.misfit(name, function, &arguments, &nearest);
                self.refuse(finding)
            }
        }
    }

    /// The program's own functions of a name.
    fn own(&self, name: &str) -> impl Iterator<Item = FunctionId> + Clone + use<> {
        self.by_name.get(&normalised(name)).cloned().unwrap_or_default().into_iter()
    }

    fn candidates(&self, name: &str) -> impl Iterator<Item = (Option<FunctionId>, &Signature)> + Clone {
        let known = self.own(name).filter(|id| self.functions[id.0].is_known);
        let own = known.map(|id| (Some(id), &self.functions[id.0].function.signature));
        own.chain(signatures::of(name).iter().map(|signature| (None, signature)))
    }

    pub(super) fn is_any_function(&self, name: &str) -> bool {
        self.by_name.contains_key(&normalised(name)) || signatures::is_function(name)
    }

    /// Whether a function is not supported, which is reported. Its arguments, functions among them, are not looked at.
    fn is_refused(&mut self, name: &Name) -> bool {
        if self.by_name.contains_key(&normalised(&name.text)) {
            return false;
        }
        let Some((why, instead)) = refused::function(&name.text) else { return false };
        self.report(Finding::unsupported(name.span, why).help(instead));
        true
    }

    /// The same for the distribution behind `~`.
    pub(super) fn is_refused_density(&mut self, name: &Name) -> bool {
        self.is_refused(&Name { text: format!("{}_lpmf", name.text), span: name.span })
    }

    /// Reports a name that no function has.
    fn need_function(&mut self, name: &Name) -> Option<()> {
        let Name { text, span } = name;
        if self.find(text).is_some() && !signatures::is_function(text) {
            let message = format!("`{text}` is a variable, not a function");
            return self.refuse(Finding::meaning(*span, message).help(format!("its elements are `{text}[...]`")));
        }
        if self.is_any_function(text) {
            return Some(());
        }
        if let Some(help) = refused::removed_function(text) {
            let message = format!("`{text}` has left the language");
            return self.refuse(Finding::meaning(*span, message).help(help));
        }
        let help = self.other_suffix(text).or_else(|| {
            let names: Vec<&str> = self.by_name.keys().map(String::as_str).chain(signatures::names()).collect();
            nearest(text, names)
        });
        self.refuse(Finding::meaning(*span, format!("there is no function `{text}`")).help_if(help))
    }

    /// The functions of a distribution, if one is asked for that it lacks.
    fn other_suffix(&self, name: &str) -> Option<String> {
        let suffixes = ["lpdf", "lpmf", "cdf", "lcdf", "lccdf", "rng"];
        let base = name
            .rsplit_once('_')
            .filter(|(_, suffix)| suffixes.contains(suffix) || matches!(*suffix, "lupdf" | "lupmf" | "log"))
            .map_or(name, |(base, _)| base);
        let known = |suffix: &&str| self.is_any_function(&format!("{base}_{suffix}"));
        let names: Vec<String> = suffixes.iter().filter(|it| known(it)).map(|it| format!("`{base}_{it}`")).collect();
        (!names.is_empty()).then(|| format!("the distribution `{base}` has {}", names.join(", ")))
    }

    fn need_bar(&mut self, name: &Name, suffix: Suffix, bar: bool) {
        let Name { text, span } = name;
        if suffix.has_bar() && !bar {
            let message = format!("a bar follows the first argument of `{text}`");
            self.report(Finding::meaning(*span, message).help(format!("write `{text}(x | ...)`")));
        } else if bar && !suffix.has_bar() {
            let message = format!("`{text}` is no density and takes no bar");
            self.report(Finding::meaning(*span, message).help("write a comma"));
        }
    }

    /// Functions whose suffix says where they may be called.
    fn need_place(&mut self, name: &Name, suffix: Suffix) {
        let Name { text, span } = name;
        let (block, span) = (self.context.block, *span);
        match suffix {
            Suffix::Target if block == ProgramBlock::TransformedParameters && self.context.function.is_none() => {
                let finding =
                    Finding::warning(span, format!("`{text}` in `transformed parameters` leaves the language"));
                self.report(finding.help("a function that ends with `_jacobian` may adjust the density there"));
            }
            Suffix::Target => self.need_target(span, false),
            Suffix::Jacobian => self.need_jacobian(span),
            Suffix::Rng => {
                let is_block = matches!(block, ProgramBlock::TransformedData | ProgramBlock::GeneratedQuantities);
                if self.context.in_sizes {
                    self.report(Finding::meaning(span, "sizes of variables are not drawn at random"));
                } else if !is_block && !self.context.in_function(Suffix::Rng) {
                    let message = format!("`{text}` draws at random, which is not allowed here");
                    self.report(Finding::meaning(span, message).help(
                        "generators stand in `transformed data`, `generated quantities` and functions that end with `_rng`",
                    ));
                }
            }
            _ if suffix.is_unnormalised() => {
                let within = self.context.function.map(|function| function.suffix);
                let is_density = matches!(within, Some(Suffix::Density { .. } | Suffix::Mass { .. }));
                if !is_density && block != ProgramBlock::Model {
                    let message = format!("`{text}` leaves constants out, which is not allowed here");
                    let finding = Finding::meaning(span, message);
                    let full = normalised(text);
                    self.report(finding.help(format!("write `{full}`; it may stand in the model and in densities")));
                }
            }
            _ => {}
        }
    }

    /// The target is read and added to in the model, and in functions that end with `_lp`.
    pub(super) fn need_target(&mut self, span: Span, is_read: bool) {
        let block = self.context.block;
        let may_read = is_read && block == ProgramBlock::TransformedParameters;
        if block != ProgramBlock::Model && !may_read && !self.context.in_function(Suffix::Target) {
            self.report(
                Finding::meaning(span, "the log density is not known here")
                    .help("`target` and `~` stand in the model and in functions that end with `_lp`"),
            );
        }
    }

    /// The Jacobian is added to in transformed parameters, and in functions that end with `_jacobian`.
    pub(super) fn need_jacobian(&mut self, span: Span) {
        let is_block = self.context.block == ProgramBlock::TransformedParameters;
        if !is_block && !self.context.in_function(Suffix::Jacobian) {
            self.report(
                Finding::meaning(span, "the Jacobian cannot be adjusted here")
                    .help("`jacobian` stands in `transformed parameters` and in functions that end with `_jacobian`"),
            );
        }
    }

    fn warn_of_function(&mut self, name: &Name, arguments: Option<&[Expression]>) {
        let Name { text, span } = name;
        if text.starts_with("lkj_cov_") {
            let finding = Finding::warning(*span, "`lkj_cov` leaves the language in Stan 3");
            self.report(finding.help("give the correlations `lkj_corr` and the scales a distribution of their own"));
        } else if Suffix::of(text) == Suffix::Jacobian
            && arguments.is_some_and(|arguments| arguments.iter().all(|argument| argument.is_data))
        {
            let message = format!("`{text}` adjusts the density although no argument depends on parameters");
            self.report(Finding::warning(*span, message));
        }
    }

    /// The density that `~` means.
    pub(super) fn density(&mut self, name: &Name, arguments: Option<Vec<Expression>>) -> Option<Call> {
        let Name { text, span } = name;
        let of = |suffix: &str| format!("{text}_{suffix}");
        if let Some(base) = ["_lpdf", "_lpmf", "_lupdf", "_lupmf"].iter().find_map(|it| text.strip_suffix(it)) {
            let message = format!("a distribution after `~` has no suffix, found `{text}`");
            return self.refuse(Finding::meaning(*span, message).help(format!("write `~ {base}(...)`")));
        }
        if text.ends_with("_cdf") || text.ends_with("_ccdf") {
            let message = format!("`{text}` is no density");
            return self.refuse(Finding::meaning(*span, message).help("write `target += ...`"));
        }
        let known: Vec<&str> = ["lpmf", "lpdf"].into_iter().filter(|it| self.is_any_function(&of(it))).collect();
        if known.is_empty() {
            return self.unknown_distribution(name);
        }
        let arguments = arguments?;
        let actual: Vec<ArgumentType> = arguments.iter().map(argument).collect();
        let fits = |suffix: &&str| matches!(overload::choose(self.candidates(&of(suffix)), &actual), Match::One(..));
        let suffix = known.iter().copied().find(fits).or(known.last().copied())?;
        let function = format!("{text}_lu{}", suffix.trim_start_matches('l'));
        self.warn_of_function(&Name { text: of(suffix), span: *span }, None);
        self.resolve(name, &function, Suffix::of(&function), arguments)
    }

    fn unknown_distribution<T>(&mut self, name: &Name) -> Option<T> {
        let Name { text, span } = name;
        let own = self.by_name.keys().map(String::as_str);
        let base = |name: &&str| ["_lpdf", "_lpmf"].iter().any(|suffix| name.ends_with(suffix));
        let known: Vec<&str> =
            own.chain(signatures::names()).filter(base).map(|name| &name[..name.len() - 5]).collect();
        let old = text.strip_suffix("_log").filter(|it| self.is_any_function(&format!("{it}_lpdf")));
        let help = old
            .map(|base| format!("write `~ {base}(...)`"))
            .or_else(|| nearest(text, known.iter().copied()))
            .or_else(|| self.other_suffix(text));
        self.refuse(Finding::meaning(*span, format!("there is no distribution `{text}`")).help_if(help))
    }

    /// Whether the cumulative functions are there that a truncation needs.
    pub(super) fn need_cumulative(&mut self, name: &Name, bound: &Expression, rest: &[Expression], truncation: Span) {
        let actual: Vec<ArgumentType> = std::iter::once(bound).chain(rest).map(argument).collect();
        let lacking: Vec<String> = ["lcdf", "lccdf"]
            .into_iter()
            .map(|suffix| format!("{}_{suffix}", name.text))
            .filter(|function| !matches!(overload::choose(self.candidates(function), &actual), Match::One(..)))
            .map(|function| format!("`{function}`"))
            .collect();
        if !lacking.is_empty() {
            let message = format!("`{}` cannot be truncated here", name.text);
            let help = format!("there is no {} for ({})", lacking.join(" and no "), written(&actual));
            self.report(Finding::meaning(truncation, message).help(help));
        }
    }

    /// What is wrong with the arguments of a call.
    fn misfit(
        &self,
        name: &Name,
        function: &str,
        arguments: &[Expression],
        nearest: &[(Signature, Mismatch)],
    ) -> Finding {
        let actual: Vec<ArgumentType> = arguments.iter().map(argument).collect();
        let Name { text, span } = name;
        let message = format!("`{text}` does not take ({})", written(&actual));
        let signatures: Vec<Signature> = nearest.iter().map(|(signature, _)| signature.clone()).collect();
        let help = listed("the nearest it takes:", text, &signatures);
        let finding = match nearest.first().map(|(_, mismatch)| *mismatch) {
            Some(Mismatch::Type(at)) => {
                let expected = overload::accepted(self.candidates(function), &actual, at);
                let place = arguments.get(at).map_or(*span, |argument| argument.span);
                let found = actual.get(at).map_or(String::new(), |argument| argument.ty.to_string());
                let wanted = if expected.is_empty() { String::new() } else { format!(", expected {expected}") };
                Finding::meaning(place, message).label(format!("argument {} is `{found}`{wanted}", at + 1))
            }
            Some(Mismatch::Data(at)) => {
                let place = arguments.get(at).map_or(*span, |argument| argument.span);
                let message = format!("argument {} of `{text}` must not depend on parameters", at + 1);
                Finding::meaning(place, message).label("this does")
            }
            _ => Finding::meaning(*span, message).label(format!("given {}", count_of(actual.len()))),
        };
        finding.help(help)
    }
}

fn written(arguments: &[ArgumentType]) -> String {
    arguments.iter().map(|argument| argument.ty.to_string()).collect::<Vec<_>>().join(", ")
}

fn listed(head: &str, name: &str, signatures: &[Signature]) -> String {
    let lines: Vec<String> = signatures.iter().map(|signature| format!("\n{name}{signature}")).collect();
    format!("{head}{}", lines.concat())
}

fn count_of(arguments: usize) -> String {
    if arguments == 1 { "1 argument".into() } else { format!("{arguments} arguments") }
}
