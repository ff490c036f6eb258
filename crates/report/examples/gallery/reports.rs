//! Whole reports of runs of several sizes.

use octopus_report::{Figure, Report};

use crate::sample::{self, Sample, Shape};

const USUAL: Shape = Shape { groups: 100, chains: 4, draws: 2000, truth: true, divergences: false };

/// The runs that are reported, by name.
pub(crate) const SHAPES: [(&str, Shape); 4] = [
    ("3-groups", Shape { groups: 3, divergences: true, ..USUAL }),
    ("100-groups", USUAL),
    ("1000-groups", Shape { groups: 1000, ..USUAL }),
    ("many-chains", Shape { groups: 8, chains: 64, draws: 500, truth: false, ..USUAL }),
];

/// The report of a run, and its pictures.
pub(crate) fn of_run(shape: Shape) -> (Report, Vec<Figure>) {
    let sample = Sample::new(shape);
    let figures = vec![
        Figure::new(sample.trace()),
        Figure::new(sample.posterior_plot()),
        Figure::new(sample.forest()),
        Figure::new(sample.ppc()),
        Figure::new(sample::benchmark(false).plot()),
    ];
    (sample::report(&sample, shape), figures)
}
