//! Arrays on the CPU against plain loops and exact sums, and on the software GPU against the CPU, bit for bit.

#[path = "../../device/tests/software_gpu/mod.rs"]
mod software_gpu;

#[path = "arrays/against_numpy.rs"]
mod against_numpy;
#[path = "arrays/draws.rs"]
mod draws;
#[path = "arrays/halves.rs"]
mod halves;
#[path = "arrays/hierarchy.rs"]
mod hierarchy;
#[path = "arrays/matrices.rs"]
mod matrices;
#[path = "arrays/npy.rs"]
mod npy;
#[path = "arrays/numbers.rs"]
mod numbers;
#[path = "arrays/on_cpu.rs"]
mod on_cpu;
#[path = "arrays/on_gpu.rs"]
mod on_gpu;
#[path = "arrays/shapes.rs"]
mod shapes;
