// What warm-up learns from the draws of all chains, summed where the draws are: the twin of `HostPool` in
// crates/sampler/src/pool.rs, operation by operation.
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

/// Appends `count` rows of each chain's `iterations`, from row `skip` on, behind the window's rows.
template <class R>
OCTOPUS_DEVICE void append(const R* from, double* to, const Window& window, u32 iterations, u32 skip, u32 count) {
  const u64 each_chain = (u64)count * window.dim;
  each((u64)window.chains * each_chain, [=](u64 at) {
    const u64 chain = at / each_chain;
    const u64 within = at % each_chain;
    const u64 source = (chain * iterations + skip) * window.dim + within;
    to[window.row(chain, window.rows) + within] = (double)from[source];
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

/// A hierarchical block and its coordinates, centered or standardised: see crates/density/src/centering.rs.
struct Block {
  u32 location, log_scale, first, effects;
  u32 standardised;
  /// The coordinate of log noise; `dim` where the noise is 1.
  u32 log_noise;
  /// What is measured of each effect less the origin, and its precision in units of 1 / noise^2.
  double origin;
  const double* mean;
  const double* precision;
};

/// A draw and the gradient there from the density's own coordinates to centered ones, in place.
OCTOPUS_DEVICE void center_draw(const Block& block, double* x, double* g) {
  const double location = x[block.location];
  const double slope = exp(-x[block.log_scale]);
  const double scale = exp(x[block.log_scale]);
  double location_part = 0.0;
  double scale_part = 0.0;
  for (u32 i = block.first; i < block.first + block.effects; ++i) {
    location_part = location_part + slope * g[i];
    scale_part = scale_part + x[i] * g[i];
    g[i] = g[i] * slope;
    x[i] = scale * x[i] + location;
  }
  g[block.location] = g[block.location] - location_part;
  g[block.log_scale] = g[block.log_scale] - (scale_part + (double)block.effects);
}

/// The same to standardised ones.
OCTOPUS_DEVICE void standardise_draw(const Block& block, double* x, double* g, u32 dim) {
  const bool noisy = block.log_noise < dim;
  const double scale = exp(x[block.log_scale]);
  const double noise = noisy ? exp(x[block.log_noise]) : 1.0;
  const double shift = x[block.location] - block.origin;
  const double gain = scale * (1.0 / (noise * noise));
  const double ratio = scale * gain;
  double location_part = 0.0;
  double scale_part = 0.0;
  double noise_part = 0.0;
  double shares = 0.0;
  for (u32 j = 0; j < block.effects; ++j) {
    const u32 i = block.first + j;
    const double precision = block.precision[j];
    const double inverse = 1.0 / (1.0 + precision * ratio);
    const double width = root(inverse);
    const double push = precision * gain * inverse;
    const double drawn = push * (block.mean[j] - shift);
    const double slope = g[i];
    const double z = x[i];
    const double own = z - drawn;
    const double both = drawn + z;
    const double share = 1.0 - inverse;
    location_part = location_part + slope * push;
    scale_part = scale_part + slope * (drawn - share * both);
    noise_part = noise_part + slope * (own - inverse * both);
    shares = shares + share;
    g[i] = slope * width;
    x[i] = own / width;
  }
  g[block.location] = g[block.location] - location_part;
  g[block.log_scale] = g[block.log_scale] + (scale_part - shares);
  if (noisy) g[block.log_noise] = g[block.log_noise] + (noise_part + shares);
}

/// Every draw and the gradient there from the density's own coordinates to those of the block, in place:
/// `gradient_to_centered` and `to_centered`.
OCTOPUS_DEVICE void center(const Block& block, double* positions, double* gradients, const Window& window) {
  each((u64)window.chains * window.rows, [=](u64 at) {
    const u64 start = window.row(at / window.rows, at % window.rows);
    if (block.standardised) {
      standardise_draw(block, positions + start, gradients + start, window.dim);
    } else {
      center_draw(block, positions + start, gradients + start);
    }
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
