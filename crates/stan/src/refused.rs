//! What is good Stan, or was, and is refused by its name: what Octopus does not support, and what has left the language.

use crate::message::Finding;
use crate::solvers::OdeSolver;
use crate::source::Span;

/// Tuples: their types, values and slots.
pub(crate) fn tuples(span: Span) -> Finding {
    Finding::unsupported(span, "tuples are not supported").help("use a variable or an argument for each part")
}

/// Complex numbers: their types and literals.
pub(crate) fn complex(span: Span) -> Finding {
    Finding::unsupported(span, "complex numbers are not supported")
        .help("keep the real and the imaginary part in two variables of real types")
}

/// Why a function of the math library is not supported, and what to do instead.
pub(crate) fn function(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "reduce_sum" | "reduce_sum_static" => (
            "`reduce_sum` is not supported: Octopus shares the work among threads by itself",
            "call the partial sum once, `f(x, 1, size(x), ...)` instead of `reduce_sum(f, x, grainsize, ...)`",
        ),
        "map_rect" => (
            "`map_rect` is not supported: Octopus shares the work among threads by itself",
            "call the function for each shard in a loop and append what it gives",
        ),
        "ode_adjoint_tol_ctl" => (
            "the adjoint solver is not supported: slopes are integrated along with the states",
            "write `ode_bdf_tol` or `ode_rk45_tol`",
        ),
        "dae" | "dae_tol" => (
            "solvers of differential-algebraic equations are not supported",
            "solve for what has no derivative in the right-hand side, and write `ode_bdf`",
        ),
        "algebra_solver"
        | "algebra_solver_newton"
        | "solve_newton"
        | "solve_newton_tol"
        | "solve_powell"
        | "solve_powell_tol" => (
            "solvers of algebraic equations are not supported",
            "write some of Newton's steps as a loop in a function of your own",
        ),
        "integrate_1d"
        | "integrate_1d_double_exponential"
        | "integrate_1d_double_exponential_tol"
        | "integrate_1d_gauss_kronrod"
        | "integrate_1d_gauss_kronrod_tol" => (
            "numerical integration is not supported",
            "write a quadrature with fixed points as a sum in a function of your own",
        ),
        _ if is_laplace(name) => (
            "embedded Laplace approximations are not supported",
            "declare the latent vector as a parameter, and sample it",
        ),
        "csr_extract" => ("tuples are not supported", "use `csr_extract_w`, `csr_extract_v` and `csr_extract_u`"),
        "eigendecompose_sym" => ("tuples are not supported", "use `eigenvalues_sym` and `eigenvectors_sym`"),
        "qr" | "qr_thin" => ("tuples are not supported", "use `qr_thin_Q` and `qr_thin_R`, or `qr_Q` and `qr_R`"),
        "svd" => ("tuples are not supported", "use `svd_U`, `singular_values` and `svd_V`"),
        "norm" => ("complex numbers are not supported", "the norms of vectors are `norm1` and `norm2`"),
        "eigendecompose" | "eigenvalues" | "eigenvectors" => (
            "complex numbers are not supported, and eigenvalues of general matrices are complex",
            "a symmetric matrix has `eigenvalues_sym` and `eigenvectors_sym`",
        ),
        _ if is_one_of(name, &COMPLEX) => {
            ("complex numbers are not supported", "keep the real and the imaginary part in two variables of real types")
        }
        _ => return None,
    })
}

/// Functions that take a function and the rest by its arguments: no program may define another of the name.
pub(crate) fn is_special(name: &str) -> bool {
    let is_solver = OdeSolver::named(name).is_some_and(|solver| !solver.is_old)
        || name == "ode_adjoint_tol_ctl"
        || name.starts_with("dae") && function(name).is_some()
        || name.starts_with("solve_") && function(name).is_some()
        || name.starts_with("integrate_1d_") && function(name).is_some();
    is_solver || name.starts_with("reduce_sum") && function(name).is_some() || is_laplace(name)
}

const COMPLEX: [&str; 14] = [
    "arg",
    "complex_schur_decompose",
    "complex_schur_decompose_t",
    "complex_schur_decompose_u",
    "conj",
    "fft",
    "fft2",
    "get_imag",
    "get_real",
    "inv_fft",
    "inv_fft2",
    "polar",
    "proj",
    "to_complex",
];

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.contains(&name)
}

fn is_laplace(name: &str) -> bool {
    let bare = ["_lupmf", "_lpmf", "_rng"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    let start = ["laplace_marginal", "laplace_latent"].iter().find_map(|start| bare.strip_prefix(start));
    let tolerant = start.map(|rest| rest.strip_prefix("_tol").unwrap_or(rest));
    tolerant.is_some_and(|rest| {
        ["", "_solve", "_solve_tol", "_bernoulli_logit", "_neg_binomial_2_log", "_poisson_log"].contains(&rest)
    }) || bare == "generate_laplace_options"
}

/// What to write instead of a function that has left the language.
pub(crate) fn removed_function(name: &str) -> Option<String> {
    let instead = match name {
        "increment_log_prob" => "write `target += ...;`",
        "get_lp" => "write `target()`",
        "if_else" => "write `condition ? a : b`",
        "fabs" => "write `abs(x)`",
        "multiply_log" => "write `lmultiply(x, y)`",
        "binomial_coefficient_log" => "write `lchoose(n, k)`",
        "cov_exp_quad" => "write `gp_exp_quad_cov(x, alpha, rho)`",
        "raise_exception" => "write `reject(...);`",
        "integrate_ode_cvode" => "write `integrate_ode_bdf(...)`",
        _ => {
            let (base, suffix) = [("_ccdf_log", "_lccdf"), ("_cdf_log", "_lcdf"), ("_log", "_lpdf")]
                .into_iter()
                .find_map(|(old, new)| Some((name.strip_suffix(old)?, new)))?;
            let known = |suffix: &str| crate::signatures::is_function(&format!("{base}{suffix}"));
            let suffix = if suffix == "_lpdf" && !known("_lpdf") { "_lpmf" } else { suffix };
            return known(suffix).then(|| format!("write `{base}{suffix}(x | ...)`"));
        }
    };
    Some(instead.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_functions_say_what_to_do() {
        for name in ["ode_adjoint_tol_ctl", "reduce_sum", "map_rect", "laplace_marginal_poisson_log_lpmf", "fft", "svd"]
        {
            let (why, instead) = function(name).expect(name);
            assert!(why.contains("not supported") && instead.len() > 10, "{name}");
            assert!(!crate::signatures::is_function(name), "{name} has a signature");
        }
        assert_eq!(function("normal_lpdf"), None);
        assert!(
            is_special("reduce_sum_static") && is_special("dae") && is_special("ode_rk45") && !is_special("map_rect")
        );
    }

    #[test]
    fn removed_functions_name_the_new_ones() {
        assert_eq!(removed_function("normal_log").as_deref(), Some("write `normal_lpdf(x | ...)`"));
        assert_eq!(removed_function("poisson_log"), Some("write `poisson_lpmf(x | ...)`".into()));
        assert_eq!(removed_function("normal_cdf_log").as_deref(), Some("write `normal_lcdf(x | ...)`"));
        assert_eq!(removed_function("my_log"), None);
    }
}
