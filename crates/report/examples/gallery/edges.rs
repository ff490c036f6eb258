//! Pictures of data at the edges of what a plot treats alike: a limit of rows, a value on a limit, nothing finite.
//! Each has few marks, so that a fault in drawing is found in milliseconds.

use octopus_report::{
    ComparedRow, ComparedSection, EnergyPlot, ForestComparisonPlot, ForestPlot, ForestRow, ForestSection, Narrowing,
    PairPlot, PairVariable, ParetoKPlot, Plot, PriorPosteriorPanel, PriorPosteriorPlot, WidthMeasure,
};

use crate::sample::benchmark;

/// A picture and its name.
pub(crate) type Named = (String, Box<dyn Plot>);

/// A kind of these pictures: its name, and what makes them.
type Kind = (&'static str, fn() -> Vec<Named>);

/// The kinds of these pictures.
pub(crate) const KINDS: [Kind; 7] = [
    ("forests", || boxed(forests())),
    ("forests of runs", || boxed(forests_of_runs())),
    ("pairs", || boxed(pairs())),
    ("Pareto k", || boxed(pareto_ks())),
    ("energies", || boxed(energies())),
    ("priors and posteriors", || boxed(priors_and_posteriors())),
    ("speeds", || boxed(vec![("of a GPU".to_owned(), benchmark(true).plot())])),
];

fn boxed<P: Plot + 'static>(plots: Vec<(String, P)>) -> Vec<Named> {
    plots.into_iter().map(|(name, plot)| (name, Box::new(plot) as Box<dyn Plot>)).collect()
}

/// Numbers from 0 to 1 that are in no order.
fn scattered(i: usize) -> f64 {
    ((i * 7919) % 1009) as f64 / 1009.0
}

fn forest_row(label: &str, i: usize) -> ForestRow {
    let mean = 10.0 * scattered(i);
    ForestRow {
        label: format!("{label}[{i}]"),
        mean,
        hdi89: (mean - 1.6, mean + 1.7),
        hdi50: (mean - 0.6, mean + 0.7),
        rhat: 1.0 + 0.009 * scattered(i + 3),
        truth: None,
    }
}

/// Rows with what may be odd about one: no mean, half an interval, R-hat on its limit or not defined, a truth.
fn odd_rows(n: usize) -> Vec<ForestRow> {
    let mut rows: Vec<ForestRow> = (0..n).map(|i| forest_row("theta", i)).collect();
    for (i, row) in rows.iter_mut().enumerate() {
        match i % 7 {
            0 => row.truth = Some(row.mean + 1.0),
            1 => row.mean = f64::NAN,
            2 => row.hdi50.1 = f64::NAN,
            3 => row.hdi89.0 = f64::INFINITY,
            4 => row.rhat = 1.01,
            5 => row.rhat = f64::NAN,
            _ => row.rhat = 1.2,
        }
    }
    rows
}

fn section(name: &str, rows: Vec<ForestRow>) -> ForestSection {
    ForestSection { name: name.to_owned(), rows }
}

fn forests() -> Vec<(String, ForestPlot)> {
    let plain = |n: usize| (0..n).map(|i| forest_row("mu", i)).collect::<Vec<_>>();
    let scalars = |n: usize| odd_rows(n).into_iter().map(|row| section(&row.label.clone(), vec![row])).collect();
    let mut plots: Vec<(String, ForestPlot)> =
        [1, 2, 3, 4, 7, 30, 31].map(|n| (format!("{n} scalars"), ForestPlot { sections: scalars(n) })).into();
    // Labels fit 60 rows; 300 rows have tips; points, lines and bands take turns at 201 and 402; 1610 pixels are there.
    for n in [2, 59, 60, 61, 201, 202, 300, 301, 402, 403, 1610, 1611, 3300] {
        plots.push((format!("{n} rows"), ForestPlot { sections: vec![section("mu", plain(n))] }));
    }
    for n in [14, 70, 250, 450] {
        plots.push((format!("{n} odd rows"), ForestPlot { sections: vec![section("theta", odd_rows(n))] }));
    }
    let mut far = plain(61);
    far[7].rhat = 9.0;
    let mut near = plain(61);
    near[7].rhat = 1.0353;
    let mut unknown = plain(61);
    unknown.iter_mut().for_each(|row| row.rhat = f64::NAN);
    let long = |rows| section(&"a long name of a variable ".repeat(7), rows);
    let mut labels = plain(5);
    labels[2].label = "a long name of an element ".repeat(7);
    for (name, sections) in [
        ("an R-hat far above its limit", vec![section("mu", far)]),
        // The lines of 1 and of the limit are 22.6 pixels apart, half a pixel too few for both labels.
        ("an R-hat that leaves no room for both labels", vec![section("mu", near)]),
        ("no R-hat", vec![section("mu", unknown)]),
        ("long names", vec![long(plain(1)), long(plain(4)), long(plain(61)), section("mu", labels)]),
        ("no rows in one", vec![section("none", vec![]), section("mu", plain(3)), section("nu", plain(70))]),
    ] {
        plots.push((name.to_owned(), ForestPlot { sections }));
    }
    plots
}

fn forests_of_runs() -> Vec<(String, ForestComparisonPlot)> {
    let compared = |runs: usize, rows: Vec<ForestRow>| -> Vec<ComparedRow> {
        let of_run = |row: &ForestRow, run: usize| {
            let moved = ForestRow { mean: row.mean + 0.3 * run as f64, ..row.clone() };
            (run != 1 || !row.label.ends_with("2]")).then_some(moved)
        };
        let row = |row: ForestRow| ComparedRow {
            label: row.label.clone(),
            runs: (0..runs).map(|run| of_run(&row, run)).collect(),
        };
        rows.into_iter().map(row).collect()
    };
    let names = |runs: usize| (0..runs).map(|run| format!("run {run}")).collect::<Vec<_>>();
    let of = |name: &str, rows: Vec<ComparedRow>, elements| ComparedSection { name: name.to_owned(), rows, elements };
    let array = |runs: usize, rows: Vec<ForestRow>, elements: usize| ForestComparisonPlot {
        runs: names(runs),
        sections: vec![of("theta", compared(runs, rows), elements)],
    };
    let scalars = |runs: usize, n: usize| ForestComparisonPlot {
        runs: names(runs),
        sections: compared(runs, odd_rows(n)).into_iter().map(|row| of(&row.label.clone(), vec![row], 1)).collect(),
    };
    let plain = |n: usize| (0..n).map(|i| forest_row("mu", i)).collect::<Vec<_>>();
    let mut long = scalars(2, 1);
    long.sections[0].rows[0].label = "a long name of a scalar ".repeat(3);
    vec![
        ("one scalar".to_owned(), scalars(2, 1)),
        ("seven scalars".to_owned(), scalars(3, 7)),
        ("a long name".to_owned(), long),
        ("odd rows".to_owned(), array(2, odd_rows(14), 14)),
        ("some rows of more".to_owned(), array(2, plain(20), 41)),
        // There are 400 tips at most.
        ("as many rows as tips".to_owned(), array(1, plain(400), 400)),
        ("more rows than tips".to_owned(), array(1, plain(402), 402)),
        ("many runs".to_owned(), array(12, plain(3), 3)),
    ]
}

fn pairs() -> Vec<(String, PairPlot)> {
    let variable = |name: &str, draws: usize, salt: usize, truth: Option<f64>| PairVariable {
        name: name.to_owned(),
        draws: (0..draws).map(|i| scattered(i * (salt + 3) + salt) + 0.2 * scattered(i + 11 * salt)).collect(),
        truth,
    };
    let plot = |draws: usize, truths: &[Option<f64>], divergent: usize| PairPlot {
        variables: truths.iter().enumerate().map(|(i, &t)| variable(&format!("x{i}"), draws, i, t)).collect(),
        divergent: (0..divergent).map(|i| i * draws / divergent.max(1)).collect(),
        parameters: 9,
    };
    let (inside, outside) = (Some(0.5), Some(40.0));
    let mut odd = plot(50, &[inside, None], 3);
    (odd.variables[0].draws[0], odd.variables[1].draws[16]) = (f64::NAN, f64::INFINITY);
    let mut equal = plot(50, &[None, None], 1);
    equal.variables[1].draws.fill(2.0);
    vec![
        ("one variable".to_owned(), plot(40, &[inside], 2)),
        ("two variables, no divergence".to_owned(), plot(40, &[None, None], 0)),
        ("a dot for each of 2000 draws".to_owned(), plot(2000, &[None, None], 0)),
        ("a dot for every second of 2001 draws".to_owned(), plot(2001, &[None, None], 0)),
        ("truths inside".to_owned(), plot(40, &[inside, inside], 1)),
        ("the truth across is outside".to_owned(), plot(40, &[outside, inside], 1)),
        ("the truth upwards is outside".to_owned(), plot(40, &[inside, outside], 1)),
        ("only the first truth is known".to_owned(), plot(40, &[inside, None], 1)),
        ("only the second truth is known".to_owned(), plot(40, &[None, inside], 1)),
        ("100 divergences".to_owned(), plot(300, &[None, None, None], 100)),
        ("101 divergences".to_owned(), plot(300, &[None, None, None], 101)),
        ("values that are not finite".to_owned(), odd),
        ("a variable that does not move".to_owned(), equal),
    ]
}

fn pareto_ks() -> Vec<(String, ParetoKPlot)> {
    let k = |n: usize, every: usize| -> Vec<f64> {
        let bad = |i: usize| 0.65 + 0.5 * scattered(i + 1);
        (0..n).map(|i| if i % every == 3 { bad(i) } else { 0.5 * scattered(i) - 0.1 }).collect()
    };
    // Thresholds of draws: 27 have 0.3, 316 have 0.6, 1682 have 0.69, 2155 and more have 0.7; one draw has none.
    let plot = |k: Vec<f64>, draws: usize| ParetoKPlot { k, draws, labels: vec![] };
    let mut named = plot(k(30, 2), 316);
    named.labels = (0..30).map(|i| format!("{} {i}", "observation ".repeat(i))).collect();
    let crowd = (0..60).map(|i| if i % 5 == 0 { 1.05 + 0.001 * i as f64 } else { 0.69 + 0.001 * i as f64 });
    let mut plots = vec![
        ("one".to_owned(), plot(vec![0.3], 4000)),
        ("names".to_owned(), named),
        ("many at the upper edge".to_owned(), plot(crowd.collect(), 1334)),
        ("odd".to_owned(), plot(vec![f64::NAN, f64::INFINITY, -3.0, 0.5, 0.7, 1.0, 1.2], 4000)),
        ("not defined".to_owned(), plot(vec![f64::NAN; 3], 1)),
        ("no threshold".to_owned(), plot(k(20, 5), 1)),
        ("a threshold close to 0.7".to_owned(), plot(k(20, 5), 1682)),
        ("a low threshold".to_owned(), plot(k(20, 5), 27)),
        ("all bad".to_owned(), plot(vec![0.9; 500], 27)),
        ("much of one value".to_owned(), plot(vec![0.2; 9], 4000)),
    ];
    // 300 have tips, 2000 are points; of more, points of their own are the 400 largest above the threshold.
    for (n, every) in [(100, 9), (300, 9), (301, 9), (1999, 40), (2000, 40), (2001, 40), (2001, 4)] {
        plots.push((format!("{n}, one of {every} bad"), plot(k(n, every), 4000)));
    }
    plots
}

fn energies() -> Vec<(String, EnergyPlot)> {
    let plot = |chains: usize, draws: usize, bfmi: &dyn Fn(usize) -> f64| EnergyPlot {
        chains: (0..chains).map(|c| (0..draws).map(|i| 100.0 * scattered(i + 31 * c)).collect()).collect(),
        bfmi: (0..chains).map(bfmi).collect(),
        bfmi_of_all: 0.9,
    };
    let usual = |c: usize| 0.1 + scattered(c);
    let mut infinite = plot(2, 40, &usual);
    (infinite.chains[1][7], infinite.bfmi[1]) = (f64::INFINITY, f64::NAN);
    let mut long = plot(2, 40, &usual);
    long.bfmi = vec![1.0; 12_346];
    (long.bfmi[12_345], long.bfmi_of_all) = (1.234e-300, 1.234e-300);
    let mut equal = plot(2, 40, &usual);
    equal.chains.iter_mut().for_each(|chain| chain.fill(3.0));
    let mut plots = vec![
        ("energies that are not finite".to_owned(), infinite),
        ("words that must be cut".to_owned(), long),
        ("all equal".to_owned(), equal),
        ("none finite".to_owned(), plot(1, 0, &usual)),
        ("E-BFMI on its limit".to_owned(), plot(3, 40, &|c| [0.3, 0.299, 0.301][c])),
        ("no E-BFMI".to_owned(), plot(3, 40, &|_| f64::NAN)),
        ("a high E-BFMI".to_owned(), plot(3, 40, &|c| 1.0 + c as f64)),
    ];
    plots[3].1.chains = vec![vec![f64::NAN; 20]];
    // Chains have a stem above 14 pixels, of 466, and a tip up to 128.
    for chains in [1, 8, 9, 33, 34, 60, 128, 129, 300, 999, 1000] {
        plots.push((format!("{chains} chains"), plot(chains, 20, &usual)));
    }
    plots
}

fn priors_and_posteriors() -> Vec<(String, PriorPosteriorPlot)> {
    let bell = |n: usize, center: f64, width: f64| -> Vec<f64> {
        let sum = |i: usize| (0..6).map(|k| scattered(i * 6 + k * 37)).sum::<f64>() - 3.0;
        (0..n).map(|i| center + width * sum(i)).collect()
    };
    let panel = |name: &str, (center, width): (f64, f64), truth: Option<f64>| PriorPosteriorPanel {
        name: name.to_owned(),
        prior: bell(200, 0.0, 1.0),
        posterior: bell(200, center, width),
        prior_sd: 0.7,
        posterior_sd: 0.7 * width,
        truth,
    };
    let panels = |panels: Vec<PriorPosteriorPanel>| PriorPosteriorPlot { panels, narrowings: vec![] };
    let mut odd =
        [panel("equal", (0.0, 0.0), None), panel("no prior", (0.0, 1.0), None), panel("none", (0.0, 1.0), None)];
    odd[1].prior.fill(f64::NAN);
    (odd[2].prior, odd[2].posterior) = (vec![f64::NAN; 9], vec![f64::INFINITY; 9]);
    let mut heavy = panel("heavy", (0.1, 0.3), Some(0.2));
    heavy.prior_sd = 90.0;
    (heavy.prior[3], heavy.prior[4]) = (900.0, -900.0);
    let narrowing = |ratios: Vec<f64>, width| Narrowing { name: "z".to_owned(), ratios, width };
    let ratios = |n: usize, from: f64, length: f64| (0..n).map(|i| from + length * scattered(i)).collect::<Vec<_>>();
    let narrowed = |narrowing: Narrowing| PriorPosteriorPlot { panels: vec![], narrowings: vec![narrowing] };
    vec![
        ("as wide".to_owned(), panels(vec![panel("mu", (0.0, 1.0), Some(0.3))])),
        ("narrow, at the left".to_owned(), panels(vec![panel("mu", (-1.5, 0.04), Some(9e9))])),
        ("narrow, at the right".to_owned(), panels(vec![panel("mu", (1.5, 0.02), Some(1.5))])),
        ("four".to_owned(), panels((0..4).map(|i| panel("mu", (0.2, 0.1 + 0.5 * i as f64), None)).collect())),
        ("odd".to_owned(), panels(odd.into())),
        ("heavy tails".to_owned(), panels(vec![heavy])),
        ("narrowed".to_owned(), narrowed(narrowing(ratios(60, 0.05, 0.5), WidthMeasure::Sd))),
        ("narrowed by much".to_owned(), narrowed(narrowing(ratios(60, 1e-6, 1e-3), WidthMeasure::Iqr))),
        ("widened up to 9 times".to_owned(), narrowed(narrowing(ratios(60, 0.5, 8.5), WidthMeasure::Sd))),
        ("widened".to_owned(), narrowed(narrowing(ratios(60, 0.9, 30.0), WidthMeasure::Sd))),
        ("between 0.3 and 1".to_owned(), narrowed(narrowing(ratios(9, 0.34, 0.6), WidthMeasure::Sd))),
        (
            "ratios that are not defined".to_owned(),
            narrowed(narrowing(vec![f64::NAN, 0.2, f64::INFINITY, 0.0, -1.0, 0.4], WidthMeasure::Sd)),
        ),
        ("no ratio is defined".to_owned(), narrowed(narrowing(vec![f64::NAN, 0.0], WidthMeasure::Sd))),
    ]
}
