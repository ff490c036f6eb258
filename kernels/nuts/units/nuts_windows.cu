// What warm-up learns from: windows of draws on the device. Any grid of blocks of 128 threads does the whole.
#include "windows.cuh"

extern "C" __global__ void __launch_bounds__(128)
    nuts_windows_append_f64(const double* points, double* positions, double* gradients, unsigned chains,
                       unsigned rows, unsigned capacity, unsigned dim, unsigned iterations, unsigned skip, unsigned count) {
  octopus::windows::append(points, positions, gradients, {chains, rows, capacity, dim}, iterations, skip, count);
}

extern "C" __global__ void __launch_bounds__(128)
    nuts_windows_append_f32(const float* points, double* positions, double* gradients, unsigned chains, unsigned rows,
                       unsigned capacity, unsigned dim, unsigned iterations, unsigned skip, unsigned count) {
  octopus::windows::append(points, positions, gradients, {chains, rows, capacity, dim}, iterations, skip, count);
}

extern "C" __global__ void __launch_bounds__(128)
    nuts_windows_sums(const double* x, const double* about, unsigned squared, double* out, unsigned chains, unsigned rows,
                 unsigned capacity, unsigned dim) {
  octopus::windows::sums(x, about, squared, out, {chains, rows, capacity, dim});
}

extern "C" __global__ void __launch_bounds__(128)
    nuts_windows_pool(const double* of_chains, double* total, unsigned chains, unsigned dim) {
  octopus::windows::pool(of_chains, total, chains, dim);
}

extern "C" __global__ void __launch_bounds__(128)
    nuts_windows_gather(const double* x, double* out, unsigned stride, unsigned count, unsigned chains, unsigned rows,
                   unsigned capacity, unsigned dim) {
  octopus::windows::gather(x, out, stride, count, {chains, rows, capacity, dim});
}
