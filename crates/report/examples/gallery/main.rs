//! Renders every picture and the whole report on synthetic data, to look at: `cargo run --example gallery -- DIR`.

mod checks;
mod convergence;
mod edges;
mod reports;
mod sample;

use std::path::PathBuf;
use std::time::Instant;

use octopus_report::{Charset, Figure, Format, ReportError, render, write_figures, write_report};

fn main() -> Result<(), ReportError> {
    let out = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "gallery".to_owned()));
    let draw = |name: &str, figures: &dyn Fn() -> Vec<Figure>| -> Result<(), ReportError> {
        let start = Instant::now();
        let figures = figures();
        let prepared = start.elapsed().as_secs_f64();
        write_figures(&out.join(name), &figures, &[Format::Png, Format::Svg])?;
        println!("{name}: prepared in {prepared:.2} s, all in {:.2} s", start.elapsed().as_secs_f64());
        Ok(())
    };
    for groups in checks::GROUPS {
        draw(&format!("checks-{groups}"), &|| checks::of_groups(groups))?;
    }
    draw("checks-speed", &checks::of_speed)?;
    draw("checks-100000-observations", &checks::of_many_observations)?;
    for (name, run) in convergence::RUNS {
        draw(&format!("convergence-{name}"), &|| convergence::of_run(run()))?;
    }
    for (kind, plots) in edges::KINDS {
        for (name, plot) in plots() {
            render(&*plot, &out.join("edges").join(kind).join(name), &[Format::Png, Format::Svg])?;
        }
        println!("edges: {kind}");
    }
    for (name, shape) in reports::SHAPES {
        let (report, figures) = reports::of_run(shape);
        write_figures(&out.join(name), &figures, &[Format::Png, Format::Svg])?;
        write_report(&out.join(name), &report, &figures)?;
        println!("{name}\n{}", report.verdict.text(Charset::from_environment()));
    }
    Ok(())
}
