//! posteriordb's programs: gradients beside Stan's executables, and the time of one.
//!
//! `OCTOPUS_POSTERIORDB_LIST` names the list that `tests/posteriordb.rs` reads, and `OCTOPUS_STAN_MODELS` the folder that
//! `benchmarks/peers/stan.py build` made of it. `OCTOPUS_STAN_SECONDS` is the time that each side is measured in each of
//! three rounds, ours and Stan's in turn; without it nothing is timed. Rows of the report's table go to standard output.

use super::{Distance, Slopes, compiled, ours_at};
use octopus_bind::Data;
use octopus_program::Program;
use octopus_random::exact;
use octopus_stan::StanProgram;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

/// A model of Stan's that runs with its data.
struct StanModel {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    dim: usize,
}

impl StanModel {
    fn start(executable: &Path, data: &str) -> Self {
        let mut command = Command::new(executable);
        let mut process =
            command.arg(data).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Stan's model starts");
        let input = process.stdin.take().expect("standard input");
        let output = BufReader::new(process.stdout.take().expect("standard output"));
        let mut me = Self { process, input, output, dim: 0 };
        me.dim = me.answer()[1] as usize;
        me
    }

    /// The numbers of the next answer, the first of which stands for its word; none but it for an error.
    fn answer(&mut self) -> Vec<f64> {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("an answer");
        line.split_whitespace().map(|word| word.parse().unwrap_or(f64::NAN)).collect()
    }

    fn ask(&mut self, request: &str) -> Vec<f64> {
        writeln!(self.input, "{request}").expect("Stan's model listens");
        self.answer()
    }

    fn at(&mut self, x: &[f64]) -> Option<Slopes> {
        let words: Vec<String> = x.iter().map(f64::to_string).collect();
        let answer = self.ask(&format!("point {}", words.join(" ")));
        (answer.len() == x.len() + 2 && answer[1..].iter().all(|x| x.is_finite()))
            .then(|| (answer[1], answer[2..].to_vec()))
    }
}

impl Drop for StanModel {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The least and the median ns of a gradient over `seconds`.
fn timed(program: &Program, x: &[f64], seconds: f64) -> (f64, f64) {
    let (mut workspace, mut gradient) = (program.workspace(), vec![0.0; x.len()]);
    let (mut each, mut batch) = (Vec::new(), 1);
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < seconds || each.len() < 3 {
        let from = Instant::now();
        for _ in 0..batch {
            let _ = program.logp_grad(&mut workspace, x, &mut gradient);
        }
        let took = from.elapsed().as_secs_f64();
        each.push(took / f64::from(batch));
        if took < 5e-5 {
            batch *= 2;
            each.clear();
        }
    }
    each.sort_by(f64::total_cmp);
    (each[0] * 1e9, each[each.len() / 2] * 1e9)
}

/// Points uniform between -`width` and `width`, or nearer to 0 where one side has no value, with both sides' results.
fn compared(program: &Program, stan: &mut StanModel, width: f64) -> (Vec<f64>, Vec<Slopes>, Vec<Slopes>, usize) {
    let (mut ours, mut stans, mut last, mut one_sided) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let mut state = 7_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    for tried in 0..100 {
        let width = width * exact::exp(-0.35 * f64::from(tried / 8));
        let x: Vec<f64> = (0..stan.dim).map(|_| width * uniform()).collect();
        match (ours_at(program, &x), stan.at(&x)) {
            (Some(our), Some(its)) => {
                ours.push(our);
                stans.push(its);
                last = x;
            }
            (None, None) => {}
            _ => one_sided += 1,
        }
        if ours.len() == 5 {
            break;
        }
    }
    (last, ours, stans, one_sided)
}

#[test]
fn posteriordb_has_stans_gradients() {
    let (Ok(list), Ok(models)) = (std::env::var("OCTOPUS_POSTERIORDB_LIST"), std::env::var("OCTOPUS_STAN_MODELS"))
    else {
        eprintln!("SKIPPED: OCTOPUS_POSTERIORDB_LIST or OCTOPUS_STAN_MODELS is not set");
        return;
    };
    let only = std::env::var("OCTOPUS_POSTERIORDB_ONLY").unwrap_or_default();
    let seconds: Option<f64> = std::env::var("OCTOPUS_STAN_SECONDS").ok().and_then(|text| text.parse().ok());
    let list = std::fs::read_to_string(list).expect("the list can be read");
    let mut far_ones = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for line in list.lines() {
        let [name, text, data] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let executable = Path::new(&models).join(name);
        if !name.contains(&only) || !executable.exists() || !seen.insert(text) {
            continue;
        }
        let start = Instant::now();
        let ours = StanProgram::read(text)
            .map_err(|error| error.to_string())
            .and_then(|program| Ok((program, Data::read(data).map_err(|error| error.to_string())?)))
            .and_then(|(program, data)| compiled(&program, &data));
        let program = match ours {
            Ok(program) => program,
            Err(error) => {
                println!("BAD  {name}: {}", error.lines().next().unwrap_or_default());
                continue;
            }
        };
        let bound = start.elapsed().as_secs_f64();
        let mut stan = StanModel::start(&executable, data);
        if program.dim() != stan.dim {
            println!("BAD  {name}: {} coordinates, Stan has {}", program.dim(), stan.dim);
            far_ones.push(name.to_owned());
            continue;
        }
        let (x, ours, stans, one_sided) = compared(&program, &mut stan, 2.0);
        if ours.is_empty() {
            println!("BAD  {name}: no point where both have a value, {one_sided} where one has");
            far_ones.push(name.to_owned());
            continue;
        }
        let far = Distance::of(&ours, &stans);
        // Solutions of differential equations agree within their tolerances, which programs set to 1e-3 or less, and
        // where steps end differs.
        let is_approximate = program.solves_equations();
        let limit = if is_approximate { 1e-3 } else { 1e-10 };
        let is_near = |far: &Distance| far.largest_slope < limit && far.value < limit;
        // Far out Stan approximates: softplus is linear or exponential beyond 20, slopes of ln Phi are polynomials.
        let nearer = (!is_near(&far)).then(|| compared(&program, &mut stan, 0.25));
        let nearer =
            nearer.filter(|(_, ours, ..)| !ours.is_empty()).map(|(_, ours, stans, _)| Distance::of(&ours, &stans));
        let is_good = (is_near(&far) || nearer.as_ref().is_some_and(is_near)) && (one_sided == 0 || is_approximate);
        if !is_good {
            far_ones.push(name.to_owned());
        }
        let mut row = format!(
            "| {name} | {} | {:.1e} | {:.1e} | {:.1e} | {:.6} |",
            program.dim(),
            far.slope,
            far.largest_slope,
            far.value,
            far.constant
        );
        if let Some(seconds) = seconds {
            let (mut best, mut medians) = ([f64::INFINITY; 2], [f64::INFINITY; 2]);
            for _ in 0..3 {
                let (least, median) = timed(&program, &x, seconds);
                let its = stan.ask(&format!("time {seconds}"));
                for (k, (least, median)) in [(least, median), (its[1], its[2])].into_iter().enumerate() {
                    best[k] = best[k].min(least);
                    medians[k] = medians[k].min(median);
                }
            }
            let compile = std::fs::read_to_string(Path::new(&models).join(format!("{name}.json"))).unwrap_or_default();
            let compile: serde_json::Value = serde_json::from_str(&compile).unwrap_or_default();
            let loops = program.loops();
            row += &format!(
                " {:.0} | {:.0} | {:.2} | {:.2} | {:.3} | {:.0} | {} | {} |",
                best[0],
                best[1],
                best[1] / best[0],
                medians[1] / medians[0],
                bound,
                compile["compile_seconds"].as_f64().unwrap_or(f64::NAN),
                loops.len(),
                loops.iter().map(|l| l.1).sum::<usize>()
            );
        }
        if let Some(nearer) = nearer {
            row += &format!(" within 0.25 of 0: {nearer}");
        }
        if one_sided > 0 {
            row += &format!(" {one_sided} points where one side has no value");
        }
        println!("{}{row}", if is_good { "" } else { "FAR " });
    }
    assert!(far_ones.is_empty(), "far from Stan: {far_ones:?}");
}
