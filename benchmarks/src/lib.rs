//! Benchmarks of Octopus against itself and its peers.
