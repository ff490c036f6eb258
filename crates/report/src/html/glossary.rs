//! The glossary: what the words mean, and where they come from.

use crate::report::Report;
use maud::{Markup, html};

/// A word, what it means, and its source.
const ENTRIES: [(&str, &str, &str); 21] = [
    (
        "R-hat",
        "Compares the spread between chains (each cut in halves) with the spread within them, on rank-normalised draws and \
         on their distances from the median, and takes the larger: 1 when chains cannot be told apart; below 1.01 is asked for.",
        "Vehtari, Gelman, Simpson, Carpenter, Bürkner 2021, Bayesian Analysis 16(2)",
    ),
    (
        "bulk ESS",
        "How many independent draws would tell the centre of the distribution as well: draws over the sum of their \
         autocorrelations, computed on rank-normalised draws; above 400 is asked for.",
        "Vehtari et al. 2021; Geyer 1992, Statistical Science 7(4)",
    ),
    (
        "tail ESS",
        "The smaller of the effective sample sizes for the 5% and the 95% quantile: how well the ends of intervals are known.",
        "Vehtari et al. 2021",
    ),
    (
        "ESS above the number of draws",
        "Successive draws of NUTS can be negatively correlated (antithetic): their errors cancel, and the mean is known better \
         than from as many independent draws.",
        "Vehtari et al. 2021",
    ),
    (
        "MCSE",
        "Monte Carlo standard error: how far an estimate from finitely many draws may be off, sd / sqrt(ESS) for a mean. \
         It shrinks with more draws; the posterior sd does not.",
        "Vehtari et al. 2021",
    ),
    (
        "autocorrelation time",
        "Draws over effective draws for the mean: how many successive draws are worth one independent draw.",
        "Geyer 1992, Statistical Science 7(4)",
    ),
    (
        "HDI",
        "Highest-density interval: the shortest interval with the given share of the draws (here 89%).",
        "Kruschke 2014, Doing Bayesian Data Analysis, 2nd ed.; McElreath 2020, Statistical Rethinking, for 89%",
    ),
    (
        "ETI",
        "Equal-tailed interval: as much of the posterior lies below it as above it.",
        "Gelman et al. 2013, Bayesian Data Analysis, 3rd ed., section 2.3",
    ),
    (
        "rank plot",
        "Each chain's draws by their rank among the draws of all chains: chains of one distribution have flat histograms.",
        "Vehtari et al. 2021, section 4.3",
    ),
    (
        "E-BFMI",
        "Mean squared change of the energy from draw to draw over the variance of the energy: below 0.3 fresh \
         momenta move the energy too little to explore the tails.",
        "Betancourt 2016, arXiv:1604.00695",
    ),
    (
        "divergence",
        "A trajectory whose energy error exceeded 1000: its steps were too long for the curvature there, and the draws may \
         miss that region.",
        "Betancourt 2017, arXiv:1701.02434, section 6.2",
    ),
    (
        "leapfrog step",
        "One step of the integrator that NUTS moves by: one gradient of the log density; the unit of work.",
        "Neal 2011, Handbook of MCMC, chapter 5",
    ),
    (
        "tree depth",
        "How often a trajectory was doubled: at most 2^depth - 1 leapfrog steps; a draw at the limit was cut short before it turned back.",
        "Hoffman, Gelman 2014, JMLR 15",
    ),
    (
        "metric",
        "The inverse mass matrix: an estimate of the posterior covariance by which the sampler scales its steps.",
        "Neal 2011, section 5.4.2",
    ),
    (
        "step size",
        "The length of a leapfrog step in units of the metric, tuned in warm-up until the mean acceptance rate is the target.",
        "Hoffman, Gelman 2014, section 3.2",
    ),
    (
        "cross-chain, four-long, many-short",
        "Strategies for chains: cross-chain runs a few chains that warm up together, until what they learn has settled; \
         four-long lets each of them warm up for all iterations; many-short runs many chains, in superchains, with few \
         draws each.",
        "Margossian et al. 2024, for many short chains",
    ),
    (
        "superchains",
        "Groups of chains that began at a common point: where chains of one group agree with each other more than with the \
         others, they have not forgotten where they began.",
        "Margossian, Hoffman, Sountsov, Riou-Durand, Vehtari, Gelman 2024, Bayesian Analysis",
    ),
    (
        "nested R-hat",
        "R-hat of superchains, sqrt(1 + B/W) with B the variance between their means and W that within them: it works \
         for chains of few draws.",
        "Margossian et al. 2024",
    ),
    (
        "threads",
        "Workers that share the chains of a run. Starting them and waiting for the last one takes time: where the work is \
         smaller than that, two threads are slower than one.",
        "Amdahl 1967, AFIPS Conference Proceedings 30, for the limits of parallel speed",
    ),
    (
        "Pareto k",
        "Shape of the tail of importance weights: below 0.7 (for enough draws) leave-one-out estimates by importance \
         sampling can be relied on.",
        "Vehtari, Simpson, Gelman, Yao, Gabry 2024, JMLR 25",
    ),
    (
        "PPC",
        "Posterior predictive check: data sets drawn from the fitted model beside the observed one; p is the share of \
         replicated statistics that are at most the observed one, near 0 or 1 where the model cannot make such data.",
        "Gelman, Meng, Stern 1996, Statistica Sinica 6",
    ),
];

/// Words that only a report of the PRD's problem has.
const OF_THE_PRD: [(&str, &str, &str); 3] = [
    (
        "PRD",
        "Product requirements document: it asks for phase 0, with its model, its data and its limits. The verdict has a row for \
         each requirement.",
        "docs/requirements.md of Octopus",
    ),
    (
        "P0.1 ... Q.5",
        "Ids of the requirements. P0 must be met, P1 should be, P2 may be; Q asks for the quality of the result.",
        "docs/requirements.md of Octopus",
    ),
    (
        "collapsed, pointwise",
        "Two ways to evaluate one likelihood: collapsed from each group's sums, pointwise from every observation. The posterior \
         is the same; collapsed does less work where groups have many observations.",
        "Casella, Berger 2002, Statistical Inference, 2nd ed., chapter 6, for sufficient statistics",
    ),
];

pub(super) fn content(report: &Report) -> Markup {
    // Its own configuration has a row there, and in no other report.
    let is_the_prds = report.verdict.rows.iter().any(|row| row.id == "Q.5");
    let of_the_prd = OF_THE_PRD.into_iter().filter(|_| is_the_prds);
    html! {
        dl.glossary {
            @for (word, meaning, source) in of_the_prd.chain(ENTRIES) {
                div { dt { (word) } dd { (meaning) " " cite { (source) } } }
            }
        }
    }
}
