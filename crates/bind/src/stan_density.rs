//! A bound program as a log density that samplers run, with its generated quantities and with what the trace has of the
//! observations.

use crate::generated::{BlockFailure, GeneratedBlock};
use crate::generative::ReplicateBlock;
use crate::normalised::NormalisedProgram;
use crate::observations::{ObservedData, TraceGroups};
use octopus_density::gpu::GpuDensity;
use octopus_density::{DensityEffects, DensityError, DrawAddress, Layout, LogDensity, Variable};
use octopus_program::{Program, ProgramDensity};
use octopus_random::{Key, Purpose, Stream};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A Stan program with its data, compiled.
///
/// The layout has parameters, transformed parameters and generated quantities under Stan's names, the last index fastest.
/// A generated quantity `log_lik` is not among them: it is [`log_likelihood`](LogDensity::log_likelihood). Replicated data,
/// `y_rep` where the data have a `y` of the same sizes, `x_rep` where they have an `x`, are what
/// [`predict`](LogDensity::predict) draws.
///
/// Generated quantities that need random numbers are drawn from a stream addressed by seed, chain and draw, so that a draw
/// has the same ones in every group and for any number of threads. Without an address,
/// [`expand`](LogDensity::expand) draws from a stream addressed by the position.
///
/// A program without parameters has one coordinate that nothing reads, with a standard normal density: a sampler runs, and
/// each draw has generated quantities of its own, as with CmdStan's `fixed_param`.
#[derive(Debug)]
pub struct StanDensity {
    /// Everything that is compiled, log likelihoods and replicates as well.
    compiled: ProgramDensity,
    block: Option<GeneratedBlock>,
    layout: Layout,
    /// The places of the layout's numbers among all numbers.
    kept: Vec<Range<usize>>,
    /// The place of 1 for each bound of a compiled quantity that does not hold; they come last.
    bounds: Range<usize>,
    /// The places of compiled generated quantities.
    generated: Range<usize>,
    groups: TraceGroups,
    /// Log likelihoods by the sampling statements.
    terms: Option<ProgramDensity>,
    /// Their sum.
    likelihood: Option<ProgramDensity>,
    /// Replicates by the sampling statements.
    replicate: Option<ReplicateBlock>,
    pub(crate) normalised: Arc<NormalisedProgram>,
    /// What the log density lacks, and why the prior may not integrate to 1 with it, once somebody has asked.
    constant: OnceLock<(Option<f64>, Option<String>)>,
    width: usize,
    failures: Mutex<Failures>,
    /// Why generated quantities have no end, once a draw has shown it: then nothing is computed any more.
    endless: OnceLock<String>,
}

/// Draws that have no generated quantities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawFailures {
    /// How many were expanded.
    pub count: u64,
    /// What was wrong with the first one, with its place in the program.
    pub first: Option<String>,
}

/// Failures so far, by whatever thread they are found.
#[derive(Debug, Default)]
struct Failures {
    count: u64,
    /// The least chain and draw with a failure, and what was wrong.
    first: Option<((u32, u32), String)>,
}

/// What a density is made of.
pub(crate) struct DensityParts {
    pub(crate) compiled: ProgramDensity,
    pub(crate) block: Option<GeneratedBlock>,
    pub(crate) layout: Layout,
    pub(crate) kept: Vec<Range<usize>>,
    pub(crate) bounds: Range<usize>,
    pub(crate) generated: Range<usize>,
    pub(crate) groups: TraceGroups,
    pub(crate) terms: Option<ProgramDensity>,
    pub(crate) likelihood: Option<ProgramDensity>,
    pub(crate) replicate: Option<ReplicateBlock>,
    pub(crate) normalised: Arc<NormalisedProgram>,
}

impl StanDensity {
    pub(crate) fn new(parts: DensityParts) -> Self {
        let DensityParts {
            compiled,
            block,
            layout,
            kept,
            bounds,
            generated,
            groups,
            terms,
            likelihood,
            replicate,
            normalised,
        } = parts;
        let width = compiled.layout().width() + block.as_ref().map_or(0, GeneratedBlock::width);
        Self {
            compiled,
            block,
            layout,
            kept,
            bounds,
            generated,
            groups,
            terms,
            likelihood,
            replicate,
            normalised,
            constant: OnceLock::new(),
            width,
            failures: Mutex::default(),
            endless: OnceLock::new(),
        }
    }

    /// Returns the compiled log density with its gradient.
    pub fn program(&self) -> &Program {
        self.compiled.program()
    }

    /// Gives axes of variables other names and labels; names and sizes of variables stay.
    pub fn name_axes(&mut self, name: impl FnOnce(&mut [Variable])) {
        name(&mut self.layout.variables);
    }

    /// Returns the data that the log likelihoods and the replicated data are of, if it is known which they are.
    pub fn observed(&self) -> &[ObservedData] {
        &self.groups.observed
    }

    /// Returns the draws that were expanded without generated quantities, because their computation failed.
    pub fn failures(&self) -> DrawFailures {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        DrawFailures { count: failures.count, first: failures.first.as_ref().map(|(_, reason)| reason.clone()) }
    }

    /// Returns why the prior may not integrate to 1 even with [`log_constant`](LogDensity::log_constant): it is not proper,
    /// or the program does not tell. The sentence has its place in the program.
    pub fn prior_obstacle(&self) -> Option<String> {
        self.normalising().1.clone()
    }

    fn normalising(&self) -> &(Option<f64>, Option<String>) {
        self.constant.get_or_init(|| self.normalised.log_constant(self))
    }

    /// What is compiled of a draw: parameters and transformed parameters come first.
    pub(crate) fn known(&self, position: &[f64]) -> Vec<f64> {
        let mut known = vec![0.0; self.compiled.layout().width()];
        self.compiled.expand(position, &mut known);
        known
    }

    /// All numbers of a draw, and why there are no generated quantities.
    fn all(&self, position: &[f64], random: &mut Stream) -> (Vec<f64>, Option<String>) {
        // Whoever goes on with the stream gets other numbers.
        let random = own_stream(random);
        let mut all = vec![0.0; self.width];
        let compiled = self.compiled.layout().width();
        self.compiled.expand(&position[..self.compiled.dim()], &mut all[..compiled]);
        if all[self.bounds.clone()].iter().any(|&violations| violations != 0.0) {
            all[self.generated.clone()].fill(f64::NAN);
            return (all, Some("a generated quantity is outside of its bounds".into()));
        }
        let (known, own) = all.split_at_mut(compiled);
        if self.endless.get().is_some() {
            own.fill(f64::NAN);
            return (all, None);
        }
        let failure = self.block.as_ref().and_then(|block| block.run(known, random, own).err());
        let reason = failure.map(|BlockFailure { reason, is_endless }| {
            if is_endless {
                self.endless.get_or_init(|| format!("generated quantities of a draw: {reason}"));
            }
            reason
        });
        (all, reason)
    }

    fn keep(&self, all: &[f64], out: &mut [f64]) {
        let mut rest = out;
        for range in &self.kept {
            let (own, after) = rest.split_at_mut(range.len());
            own.copy_from_slice(&all[range.clone()]);
            rest = after;
        }
    }
}

/// A stream of its own for what is drawn now.
pub(crate) fn own_stream(random: &mut Stream) -> Stream {
    Stream::new(random.next_bits(), 0, 0, Purpose::Predictive)
}

/// The stream of a position that has no address.
pub(crate) fn stream_at(position: &[f64]) -> Stream {
    let key = position.iter().fold(Key::new(0), |key, x| key.fold_in(x.to_bits()));
    Stream::new(key.bits(), 0, 0, Purpose::Predictive)
}

impl LogDensity for StanDensity {
    fn dim(&self) -> usize {
        self.compiled.dim().max(1)
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn logp_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        if self.compiled.dim() > 0 {
            return self.compiled.logp_grad(position, gradient);
        }
        let (&[x], [slope]) = (position, gradient) else {
            return Err(DensityError::Broken("a program without parameters has one coordinate".into()));
        };
        *slope = -x;
        Ok(-0.5 * x * x)
    }

    /// Returns what statements with `~` and functions by the names `_lupdf` and `_lupmf` drop, and what makes priors
    /// between bounds integrate to 1. A program that branches on parameters inside of such a function may drop no constant: then
    /// it is `None`.
    fn log_constant(&self) -> Option<f64> {
        // Without parameters there is no prior.
        (self.compiled.dim() > 0).then_some(())?;
        self.normalising().0
    }

    fn expand(&self, position: &[f64], out: &mut [f64]) {
        let (all, _) = self.all(position, &mut stream_at(position));
        self.keep(&all, out);
    }

    fn expand_draw(&self, position: &[f64], address: DrawAddress, out: &mut [f64]) -> Result<(), DensityError> {
        let (all, failure) = self.all(position, &mut address.stream());
        if let Some(reason) = failure {
            let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
            failures.count += 1;
            let place = (address.chain, address.draw);
            if failures.first.as_ref().is_none_or(|(first, _)| place < *first) {
                failures.first = Some((place, reason));
            }
        }
        self.keep(&all, out);
        // Steps without an end take seconds for each draw: the first such draw stops the run.
        self.endless.get().map_or(Ok(()), |reason| Err(DensityError::Broken(reason.clone())))
    }

    fn name(&self) -> &str {
        self.compiled.name()
    }

    fn kernels(&self) -> Option<&dyn GpuDensity> {
        if self.compiled.dim() > 0 { self.compiled.kernels() } else { None }
    }

    fn observations(&self) -> usize {
        self.groups.observations()
    }

    fn predictions(&self) -> usize {
        self.groups.predictions()
    }

    fn has_log_likelihood(&self) -> bool {
        self.groups.log_likelihood.is_some() || self.terms.is_some()
    }

    fn has_predictions(&self) -> bool {
        !self.groups.replicates.is_empty() || self.replicate.is_some()
    }

    fn log_likelihood(&self, position: &[f64], out: &mut [f64]) {
        match (&self.groups.log_likelihood, &self.terms) {
            (Some(range), _) => out.copy_from_slice(&self.all(position, &mut stream_at(position)).0[range.clone()]),
            // The terms are of the program as it is written.
            (None, Some(terms)) => match self.effects() {
                Some(effects) => terms.expand(&effects.as_written(position), out),
                None => terms.expand(position, out),
            },
            (None, None) => out.fill(f64::NAN),
        }
    }

    fn total_log_likelihood(&self, position: &[f64], terms: &mut [f64]) -> f64 {
        let (None, Some(likelihood)) = (&self.groups.log_likelihood, &self.likelihood) else {
            self.log_likelihood(position, terms);
            return terms.iter().sum();
        };
        let mut sum = [f64::NAN];
        match self.effects() {
            Some(effects) => likelihood.expand(&effects.as_written(position), &mut sum),
            None => likelihood.expand(position, &mut sum),
        }
        sum[0]
    }

    fn predict(&self, position: &[f64], random: &mut Stream, out: &mut [f64]) {
        match (&self.replicate, &self.groups.replicates[..]) {
            (Some(replicate), _) => replicate.run(&self.known(position), own_stream(random), out),
            (None, []) => out.fill(f64::NAN),
            (None, _) => self.groups.replicate(&self.all(position, random).0, out),
        }
    }

    fn faults(&self, position: &[f64]) -> Vec<String> {
        self.normalised.faults(&self.effects().map_or(position.to_vec(), |effects| effects.as_written(position)))
    }

    fn effects(&self) -> Option<&dyn DensityEffects> {
        self.compiled.effects()
    }

    fn has_tested_gradient(&self) -> bool {
        self.compiled.has_tested_gradient()
    }

    fn is_approximate(&self) -> bool {
        self.compiled.is_approximate()
    }

    fn operations(&self) -> usize {
        self.compiled.operations()
    }
}
