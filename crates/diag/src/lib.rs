//! Convergence diagnostics and summaries, equal to ArviZ.
