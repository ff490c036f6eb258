//! Plots, verdict and reports.
