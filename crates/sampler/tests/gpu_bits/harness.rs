//! The compiled kernels as a program: jobs go to its standard input and answers come from its standard output, in words
//! of 8 bytes. `answers.cpp` reads them in this order.

use crate::program::{Precision, Way, fibers, program};
use octopus_density::Centering;
use octopus_density::gpu::{GpuDensity, KernelField};
use octopus_density::warp::{Buffer, padded};
use octopus_sampler::{Adaptation, DrawStats};
use std::io::Write;
use std::process::{Command, Stdio};

/// What is asked of the kernels.
#[derive(Clone, Copy)]
pub(crate) enum Task {
    Evaluate = 0,
    Leapfrog = 1,
    Run = 2,
    Restart = 3,
}

/// A job as it is written.
pub(crate) struct Job {
    density: String,
    precision: Precision,
    /// Whether chains move.
    nuts: bool,
    bytes: Vec<u8>,
}

impl Job {
    /// `task` for `model` in the coordinates and with the metric of `adaptation`, in f64.
    pub(crate) fn new(task: Task, model: &impl GpuDensity, adaptation: &Adaptation) -> Self {
        Self::in_precision(Precision::F64, task, model, adaptation)
    }

    /// The same in any precision.
    pub(crate) fn in_precision(
        precision: Precision,
        task: Task,
        model: &impl GpuDensity,
        adaptation: &Adaptation,
    ) -> Self {
        let density = model.kernel_name();
        let nuts = matches!(task, Task::Leapfrog | Task::Run | Task::Restart);
        let mut job = Self { density: density.into(), precision, nuts, bytes: Vec::new() };
        let dim = model.dim();
        job.integer(task as u64).integer(dim as u64).fields(&model.kernel_data());
        job.integer(match adaptation.centerings.first() {
            None | Some(Centering::NonCentered) => 0,
            Some(Centering::Centered) => 1,
            Some(Centering::Standardised) => 2,
        });
        let metric = &adaptation.metric;
        let scale: Vec<f64> = metric.diagonal.iter().map(|d| d.sqrt()).collect();
        job.reals(&Buffer::from_slice(&scale)).integer(metric.directions.len() as u64);
        let directions: Vec<f64> = metric.directions.iter().flat_map(|u| Buffer::from_slice(u).to_vec()).collect();
        assert_eq!(directions.len(), metric.directions.len() * padded(dim));
        let stretch: Vec<f64> = metric.variances.iter().map(|variance| variance.sqrt() - 1.0).collect();
        job.reals(&directions).reals(&stretch);
        job
    }

    /// A struct of the density's data, field by field.
    pub(crate) fn fields(&mut self, fields: &[KernelField<'_>]) -> &mut Self {
        self.integer(fields.len() as u64);
        for field in fields {
            match field {
                KernelField::Word(word) => _ = self.integer(0).integer((*word).into()),
                KernelField::Scalar(value) => _ = self.integer(1).real(*value),
                KernelField::PerCoordinate(values) => _ = self.integer(2).reals(values),
                KernelField::Reals(values) => _ = self.integer(3).reals(values),
                KernelField::Words(words) => {
                    self.integer(4).integer(words.len() as u64);
                    words.iter().for_each(|&word| _ = self.integer(word.into()));
                }
            }
        }
        self
    }

    pub(crate) fn integer(&mut self, word: u64) -> &mut Self {
        self.bytes.extend_from_slice(&word.to_le_bytes());
        self
    }

    pub(crate) fn real(&mut self, value: f64) -> &mut Self {
        self.integer(value.to_bits())
    }

    /// The values after their number.
    pub(crate) fn reals(&mut self, values: &[f64]) -> &mut Self {
        self.integer(values.len() as u64);
        values.iter().for_each(|&value| _ = self.real(value));
        self
    }

    /// What the kernels answer; `None`, said aloud, where there is no compiler.
    pub(crate) fn ask(&self, way: Way) -> Option<Answer> {
        let Some(program) = program(&self.density, self.precision, way, self.nuts) else {
            eprintln!(
                "SKIPPED: no C++ compiler (CXX or g++): the kernels of NUTS are not compared with the CPU engine"
            );
            return None;
        };
        let units = format!("nuts_{}_{}_", self.density, self.precision);
        let library = if way == Way::Fibers { Some(fibers(&units)?) } else { None };
        let mut child =
            Command::new(program).args(library).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            // A program that has failed reads no more: its exit status says so below.
            scope.spawn(move || _ = input.write_all(&self.bytes));
            child.wait_with_output().unwrap()
        });
        assert!(output.status.success(), "the compiled kernels: {}", output.status);
        Some(Answer { bytes: output.stdout, at: 0 })
    }
}

/// An answer that is read from the front.
pub(crate) struct Answer {
    bytes: Vec<u8>,
    at: usize,
}

impl Answer {
    pub(crate) fn integer(&mut self) -> u64 {
        self.at += 8;
        u64::from_le_bytes(self.bytes[self.at - 8..self.at].try_into().unwrap())
    }

    pub(crate) fn real(&mut self) -> f64 {
        f64::from_bits(self.integer())
    }

    pub(crate) fn reals(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.real()).collect()
    }

    /// `Record` of `kernels/nuts/transition.cuh`.
    pub(crate) fn stats(&mut self) -> DrawStats {
        let reals = self.reals(6);
        let (counts, rest) = (self.integer(), self.integer());
        DrawStats {
            lp: reals[0],
            acceptance_rate: reals[1],
            step_size: reals[2],
            energy: reals[3],
            energy_error: reals[4],
            max_energy_error: reals[5],
            tree_depth: counts as u32,
            n_steps: (counts >> 32) as u32,
            index_in_trajectory: rest as u32 as i32,
            diverging: rest >> 32 & 1 != 0,
            reached_max_treedepth: rest >> 33 & 1 != 0,
            ..DrawStats::default()
        }
    }

    pub(crate) fn end(&self) {
        assert_eq!(self.at, self.bytes.len(), "the answer is longer than what was read");
    }

    /// All of it.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Of a NaN only that it is one is promised.
pub(crate) fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

#[track_caller]
pub(crate) fn assert_same(what: &str, ours: &[f64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (i, (&ours, &theirs)) in ours.iter().zip(theirs).enumerate() {
        assert!(same(ours, theirs), "{what}, {i}: {theirs:e} in the kernels, {ours:e} here");
    }
}

#[track_caller]
pub(crate) fn assert_same_stats(what: &str, ours: &DrawStats, theirs: &DrawStats) {
    let reals = |s: &DrawStats| [s.lp, s.acceptance_rate, s.step_size, s.energy, s.energy_error, s.max_energy_error];
    assert_same(what, &reals(ours), &reals(theirs));
    let whole = |s: &DrawStats| (s.tree_depth, s.n_steps, s.index_in_trajectory, s.diverging, s.reached_max_treedepth);
    assert_eq!(whole(ours), whole(theirs), "{what}");
}
