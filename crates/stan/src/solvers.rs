//! Solvers of ordinary differential equations: functions of the math library that take a function of the program.

/// A solver by its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OdeSolver {
    /// Its name.
    pub name: &'static str,
    /// Whether it is meant for stiff equations.
    pub is_stiff: bool,
    /// Whether tolerances and a number of steps follow the times.
    pub has_tolerances: bool,
    /// Whether it is one of the deprecated ones: states are arrays, arguments are `theta`, `x_r` and `x_i`, and
    /// tolerances may follow them.
    pub is_old: bool,
    /// The relative and the absolute tolerance where none are given.
    pub tolerance: f64,
    /// The most steps between two times where no number is given.
    pub most_steps: u64,
}

/// Defaults are those of Stan Math 5.3: `stan/math/{prim,rev}/functor/{ode_rk45,ode_ckrk,ode_bdf,ode_adams}.hpp` and their
/// `integrate_` forms.
const SOLVERS: [OdeSolver; 12] = [
    loose("ode_rk45"),
    with_tolerances(loose("ode_rk45_tol")),
    loose("ode_ckrk"),
    with_tolerances(loose("ode_ckrk_tol")),
    stiff(tight("ode_bdf")),
    stiff(with_tolerances(tight("ode_bdf_tol"))),
    tight("ode_adams"),
    with_tolerances(tight("ode_adams_tol")),
    old(loose("integrate_ode")),
    old(loose("integrate_ode_rk45")),
    stiff(old(tight("integrate_ode_bdf"))),
    old(tight("integrate_ode_adams")),
];

const fn loose(name: &'static str) -> OdeSolver {
    let (tolerance, most_steps) = (1e-6, 1_000_000);
    OdeSolver { name, is_stiff: false, has_tolerances: false, is_old: false, tolerance, most_steps }
}

const fn tight(name: &'static str) -> OdeSolver {
    OdeSolver { tolerance: 1e-10, most_steps: 100_000_000, ..loose(name) }
}

const fn with_tolerances(solver: OdeSolver) -> OdeSolver {
    OdeSolver { has_tolerances: true, ..solver }
}

const fn stiff(solver: OdeSolver) -> OdeSolver {
    OdeSolver { is_stiff: true, ..solver }
}

const fn old(solver: OdeSolver) -> OdeSolver {
    OdeSolver { is_old: true, ..solver }
}

impl OdeSolver {
    /// Returns the solver of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        SOLVERS.into_iter().find(|solver| solver.name == name)
    }
}
