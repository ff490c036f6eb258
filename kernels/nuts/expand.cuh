// From draws to what people read: the variables of a model's layout, and replicated observations. The twins of
// `LogDensity::expand` and `LogDensity::predict` in crates/density.
//
// A warp takes a draw at a time. What is one for the whole draw (scales) is computed by each of its lanes, which costs
// no more than by one of them; then each lane writes every 32nd value, so that a warp's writes lie side by side.
// No lane waits for another: these kernels need no lane policy and no shape.
#pragma once
#include "octopus/math.cuh"
#include "octopus/philox.cuh"
#include "uniform.cuh"

namespace octopus::nuts {

/// Posterior predictive draws, as `Purpose::Predictive` of octopus_random.
constexpr u32 PURPOSE_PREDICTIVE = 6;

/// Draws to expand, in the density's own coordinates.
template <class R> struct Expansion {
  /// rows x dim.
  const R* draws;
  /// rows x width of the layout.
  R* out;
  u64 rows;
};

/// Draws to replicate the observations of.
template <class R> struct Prediction {
  u64 seed;
  /// chains x draws_per_chain x dim, in the density's own coordinates.
  const R* draws;
  /// chains x picked x observations.
  R* out;
  /// Which draws of the buffer are taken, the same of each chain.
  const u32* picks;
  /// Number of the buffer's first chain, and how many it has.
  u32 first_chain, chains;
  /// Draws of each chain in the buffer, and the number of its first: they count from 0 after warm-up.
  u32 draws_per_chain, first_draw;
  u32 picked;
};

static_assert(sizeof(Expansion<double>) == 24 && sizeof(Expansion<float>) == 24, "the host packs it");
static_assert(sizeof(Prediction<double>) == 56 && sizeof(Prediction<float>) == 56, "the host packs it");

/// Calls f(row, lane) for every row that is this thread's warp's; blocks are whole warps.
template <class F> OCTOPUS_DEVICE void for_rows_of_warp(u64 rows, F f) {
  const u64 warps = (u64)gridDim.x * (blockDim.x / 32);
  for (u64 row = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; row < rows; row += warps)
    f(row, threadIdx.x % 32);
}

/// Every draw's variables in the order of the layout.
template <class Draw>
OCTOPUS_DEVICE void expand(const typename Draw::Data& data, const Expansion<typename Draw::R>& launch) {
  const u32 dim = Draw::dim(data);
  const u32 width = Draw::width(data);
  for_rows_of_warp(launch.rows, [&](u64 row, u32 lane) {
    const Draw draw(data, launch.draws + row * dim);
    typename Draw::R* out = launch.out + row * width;
    for (u32 i = lane; i < width; i += 32) out[i] = draw.variable(i);
  });
}

/// Replicated observations of the picked draws. Observation i has the i-th random number of its draw, whoever asks.
template <class Draw>
OCTOPUS_DEVICE void predict(const typename Draw::Data& data, const typename Draw::Observations& observations,
                            const Prediction<typename Draw::R>& launch) {
  using R = typename Draw::R;
  const u32 dim = Draw::dim(data);
  const u32 count = Draw::count(data, observations);
  for_rows_of_warp((u64)launch.chains * launch.picked, [&](u64 row, u32 lane) {
    const u32 chain = (u32)(row / launch.picked);
    const u32 pick = launch.picks[row % launch.picked];
    const Draw draw(data, launch.draws + ((u64)chain * launch.draws_per_chain + pick) * dim);
    const Stream random =
        stream(launch.seed, launch.first_chain + chain, launch.first_draw + pick, PURPOSE_PREDICTIVE);
    R* out = launch.out + row * count;
    // Both numbers of a block of random bits go to the same lane.
    for (u32 block = lane; block < (count + 1) / 2; block += 32) {
      const UniformPair<R> uniform = uniform_pair<R>(random, block);
      out[2 * block] = draw.observation(observations, 2 * block, normal_quantile(uniform.even));
      if (2 * block + 1 < count)
        out[2 * block + 1] = draw.observation(observations, 2 * block + 1, normal_quantile(uniform.odd));
    }
  });
}

}  // namespace octopus::nuts
