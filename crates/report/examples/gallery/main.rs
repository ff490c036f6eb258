//! Renders every picture and the whole report on synthetic data, to look at: `cargo run --example gallery -- DIR`.

mod checks;
mod convergence;
mod sample;

use std::path::PathBuf;

use octopus_report::{Charset, Figure, Format, write_figures, write_report};
use sample::{Sample, Shape};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "gallery".to_owned()));
    checks::draw(&out)?;
    let usual = Shape { groups: 100, chains: 4, draws: 2000, truth: true, divergences: false };
    for (name, shape) in [
        ("3-groups", Shape { groups: 3, divergences: true, ..usual }),
        ("100-groups", usual),
        ("1000-groups", Shape { groups: 1000, ..usual }),
        ("many-chains", Shape { groups: 8, chains: 64, draws: 500, truth: false, ..usual }),
    ] {
        let start = std::time::Instant::now();
        let sample = Sample::new(shape);
        println!("{name}: sample {:.2} s", start.elapsed().as_secs_f64());
        let start = std::time::Instant::now();
        let report = sample::report(&sample, shape);
        println!("{name}: stories {:.2} s", start.elapsed().as_secs_f64());
        let figures = [
            Figure::new(sample.trace()),
            Figure::new(sample.posterior_plot()),
            Figure::new(sample.forest()),
            Figure::new(sample.ppc()),
            Figure::new(sample::benchmark().plot()),
        ];
        let start = std::time::Instant::now();
        write_figures(&out.join(name), &figures, Format::PngAndSvg)?;
        println!("{name}: pictures {:.2} s", start.elapsed().as_secs_f64());
        let start = std::time::Instant::now();
        write_report(&out.join(name), &report, &figures)?;
        println!("{name}: report {:.2} s", start.elapsed().as_secs_f64());
        println!("{}", report.verdict.text(Charset::from_environment()));
    }
    convergence::draw(&out)?;
    Ok(())
}
