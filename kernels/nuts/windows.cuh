// What warm-up learns from the draws of all chains, summed where the draws are: the twin of `HostPool` in
// crates/sampler/src/adapt/pool.rs, operation by operation.
//
// A window holds `rows` draws of each chain, in f64 whatever the chains compute in: element i of draw r of chain c is at
// (c capacity + r) dim + i. Sums go through a chain's draws in their order, and then through the chains in theirs, so
// no result depends on the grid.
#pragma once
#include "octopus/grid.cuh"
#include "octopus/math.cuh"

namespace octopus::windows {

/// Where a window's numbers are.
struct Window {
  u32 chains, rows, capacity, dim;

  OCTOPUS_DEVICE u64 row(u64 chain, u64 row) const { return (chain * capacity + row) * dim; }
};

/// Appends `count` points of each chain's `iterations` and the gradients there, from row `skip` on, behind the window's
/// rows. A row of `points` is a point and then its gradient.
template <class R>
OCTOPUS_DEVICE void append(const R* points, double* positions, double* gradients, const Window& window, u32 iterations,
                           u32 skip, u32 count) {
  const u64 each_chain = (u64)count * window.dim;
  each((u64)window.chains * each_chain, [=](u64 at) {
    const u64 chain = at / each_chain;
    const u64 within = at % each_chain;
    const R* point = points + 2 * (chain * iterations + skip + within / window.dim) * window.dim + within % window.dim;
    const u64 to = window.row(chain, window.rows) + within;
    positions[to] = (double)point[0];
    gradients[to] = (double)point[window.dim];
  });
}

/// For each chain and coordinate the sum over its draws of x, or of (x - about)^2.
OCTOPUS_DEVICE void sums(const double* x, const double* about, u32 squared, double* out, const Window& window) {
  each((u64)window.chains * window.dim, [=](u64 at) {
    const u64 i = at % window.dim;
    const double* value = x + window.row(at / window.dim, 0) + i;
    const double center = about[i];
    double sum = 0.0;
    for (u32 r = 0; r < window.rows; ++r, value += window.dim) {
      const double difference = *value - center;
      sum = sum + (squared ? difference * difference : *value);
    }
    out[at] = sum;
  });
}

/// For each coordinate the sum over the chains, in their order.
OCTOPUS_DEVICE void pool(const double* of_chains, double* total, u32 chains, u32 dim) {
  each(dim, [=](u64 i) {
    double sum = 0.0;
    for (u32 c = 0; c < chains; ++c) sum = sum + of_chains[(u64)c * dim + i];
    total[i] = sum;
  });
}

/// Every `stride`-th of all draws, chain after chain, to consecutive rows.
OCTOPUS_DEVICE void gather(const double* x, double* out, u32 stride, u32 count, const Window& window) {
  each((u64)count * window.dim, [=](u64 at) {
    const u64 draw = at / window.dim * stride;
    out[at] = x[window.row(draw / window.rows, draw % window.rows) + at % window.dim];
  });
}

}  // namespace octopus::windows
