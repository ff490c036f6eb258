// One transition of NUTS: the twin of crates/sampler/src/kernel/nuts.rs, which says what is done and why.
//
// The leaf that is integrated, its momentum and the sum of the subtree that it finishes are in registers; ends, points
// and waiting subtrees are in the workspace. Random numbers are addressed as on the CPU.
#pragma once
#include "octopus/math.cuh"
#include "space.cuh"
#include "uniform.cuh"
#include "workspace.cuh"

namespace octopus::nuts {

enum Purpose : u32 { PURPOSE_MOMENTUM = 2, PURPOSE_TREE = 3, PURPOSE_STEP_SIZE = 4 };

/// Leaves use the blocks of random numbers from here on, doublings those before.
constexpr u32 FIRST_LEAF_BLOCK = 64;

/// The random numbers of a tree, made by the lanes together: in the first half of the table the blocks of doublings, in
/// the second those of leaves. One by one they were a twelfth of what a leapfrog executes.
template <class S> struct TreeNumbers {
  using T = typename S::T;
  static constexpr u32 HALF = TABLED / 2;
  /// The leaves of a table, two to a block. Each doubling of more leaves makes a new one, with its own number first: the
  /// numbers of doublings do not run out.
  static constexpr u32 LEAVES = 2 * HALF;

  typename S::W::template Table<UniformPair<T>> table;

  /// Makes the numbers of `HALF` doublings from `depth` on and of `LEAVES` leaves from `leaf` on, a multiple of `LEAVES`.
  OCTOPUS_DEVICE void make(const Stream& random, u32 depth, u32 leaf) {
    table.fill([&](u32 i) {
      const u32 doubling = depth + ((i - depth) % HALF);
      const u32 block = i < HALF ? doubling : FIRST_LEAF_BLOCK + leaf / 2 + (i - HALF);
      return uniform_pair<T>(random, block);
    });
  }

  /// Whether a doubling goes forward, by the first number of its block.
  OCTOPUS_DEVICE bool forward(u32 depth) const { return table.at(depth % HALF).even < (T)0.5; }

  /// The number that decides whether a doubling's candidate is taken.
  OCTOPUS_DEVICE T of_doubling(u32 depth) const { return table.at(depth % HALF).odd; }

  /// The number that decides whether leaf `leaf` of the tree is chosen.
  OCTOPUS_DEVICE T of_leaf(u32 leaf) const {
    const UniformPair<T>& block = table.at(HALF + leaf / 2 % HALF);
    return leaf % 2 == 0 ? block.even : block.odd;
  }
};

/// What limits a transition. Where the numbers lie is asked for anew each time: they are not kept in registers.
template <class T> struct Limits {
  const T& max_energy_error;
  const u32& max_depth;
};

/// What one transition reports, 64 bytes: the statistics of `DrawStats` in crates/sampler.
struct Record {
  double lp, acceptance_rate, step_size, energy, energy_error, max_energy_error;
  u32 tree_depth, n_steps;
  int index_in_trajectory;
  /// Bit 0: diverging; bit 1: reached_max_treedepth.
  u32 flags;
};

/// Sums of exp(H0 - H) relative to a reference that moves only when they would overflow.
template <class T> struct Weights {
  T reference, tree, subtree;

  /// Adds a leaf with H0 - H = `gain`; its weight.
  OCTOPUS_DEVICE T add(T gain) {
    // Far below the overflow of exp in each precision.
    constexpr T RESCALE = sizeof(T) == 8 ? (T)300 : (T)40;
    if (gain > reference + RESCALE) {
      const T factor = exp(reference - gain);
      tree = tree * factor;
      subtree = subtree * factor;
      reference = gain;
    }
    const T weight = exp(gain - reference);
    subtree = subtree + weight;
    return weight;
  }
};

template <class S, template <class> class Density> struct Transition {
  using R = typename S::R;
  using T = typename S::T;
  using W = typename S::W;
  using V = typename S::V;
  using Vec = typename S::Vec;
  static constexpr int L = S::L;
  static constexpr int E = S::E;

  const Space<S, Density>& space;
  Workspace<S> work;

  /// Draws a whitened momentum; its square.
  OCTOPUS_DEVICE static T draw_momentum(const Stream& stream, u32 dim, Vec& r) {
    OCTOPUS_UNROLL
    for (int e = 0; e < E; e += 2) {
      V even = W::splat((R)0);
      V odd = W::splat((R)0);
      W::each(even, odd, [&](u32 lane, R& a, R& b) {
        const UniformPair<R> uniform = uniform_pair<R>(stream, (u32)(e / 2 * L) + lane);
        a = normal_quantile(uniform.even);
        b = normal_quantile(uniform.odd);
      });
      r.row[e] = W::first((int)dim - e * L, even, W::splat((R)0));
      if (e + 1 < E) r.row[e + 1] = W::first((int)dim - (e + 1) * L, odd, W::splat((R)0));
    }
    return dot(r, r);
  }

  template <Room ROOM = COMMON> OCTOPUS_DEVICE static T dot(const Vec& a, const Vec& b) {
    V parts[1] = {W::splat((R)0)};
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) parts[0] = parts[0] + a.row[e] * b.row[e];
    T sums[1];
    W::template sum<ROOM>(parts, sums);
    return sums[0];
  }

  /// Joins a leaf in memory with the leaf `r` after it: `rho` is their sum, and `square` that of r's squares. Whether
  /// neither end turns back on the sum.
  template <Room ROOM = COMMON>
  OCTOPUS_DEVICE static bool join_leaves(const R* before, const Vec& r, Vec& rho, T& square) {
    const V zero = W::splat((R)0);
    V parts[3] = {zero, zero, zero};
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) {
      const V a = W::load(before + e * L);
      const V b = r.row[e];
      const V sum = a + b;
      rho.row[e] = sum;
      parts[0] = parts[0] + b * b;
      parts[1] = parts[1] + a * sum;
      parts[2] = parts[2] + b * sum;
    }
    T dots[3];
    W::template sum<ROOM>(parts, dots);
    square = dots[0];
    return dots[1] > (T)0 && dots[2] > (T)0;
  }

  /// Joins a subtree in memory with the one after it, whose end is `r` and whose sum is `rho`, which becomes that of
  /// both. Whether no end turns back on the whole, nor across the seam (the two extra checks of Stan).
  OCTOPUS_DEVICE static bool join(const R* a_begin, const R* a_end, const R* a_rho, const R* b_begin, const Vec& r,
                                  Vec& rho) {
    const V zero = W::splat((R)0);
    V parts[6] = {zero, zero, zero, zero, zero, zero};
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) {
      const V begin = W::load(a_begin + e * L);
      const V seam_a = W::load(a_end + e * L);
      const V seam_b = W::load(b_begin + e * L);
      const V rho_a = W::load(a_rho + e * L);
      const V rho_b = rho.row[e];
      const V end = r.row[e];
      const V whole = rho_a + rho_b;
      const V over_begin = rho_a + seam_b;
      const V over_end = rho_b + seam_a;
      rho.row[e] = whole;
      parts[0] = parts[0] + begin * whole;
      parts[1] = parts[1] + end * whole;
      parts[2] = parts[2] + begin * over_begin;
      parts[3] = parts[3] + seam_b * over_begin;
      parts[4] = parts[4] + seam_a * over_end;
      parts[5] = parts[5] + end * over_end;
    }
    T dots[6];
    W::sum(parts, dots);
    bool straight = true;
    OCTOPUS_UNROLL
    for (int k = 0; k < 6; ++k) straight = straight && dots[k] > (T)0;
    return straight;
  }

  /// Moves the chain's point by one transition: `which` says where in the workspace it is, `logp` is its log density in the
  /// sampler's coordinates, as in the record.
  /// What rests while a leaf is integrated waits in shared memory.
  OCTOPUS_DEVICE Record run(T step_size, const Limits<T>& limits, const u64& seed, u32 chain, u32 iteration, u32& which,
                            T& logp) const {
    typename W::template Place<Address> address;
    address.set({chain, iteration});
    typename W::template Place<Tree> tree;
    typename W::template Place<Points> points;
    TreeNumbers<S> numbers;
    Vec x, w, r, rho;
    {
      S::load(work.x(which), x);
      S::load(work.w(which), w);
      const u32 dim = space.density.dim();
      const T kinetic = (T)0.5 * draw_momentum(stream(seed, chain, iteration, PURPOSE_MOMENTUM), dim, r);
      OCTOPUS_UNROLL
      for (int side = 0; side < 2; ++side) {
        S::store(work.end_x(side), x);
        S::store(work.end_w(side), w);
        S::store(work.end_r(side), r);
      }
      const T h0 = kinetic - logp;
      tree.set({{0, 0}, 0, 0, {(T)0, (T)1, (T)0}, (T)0, (T)0, h0, step_size, (T)0});
      points.set({{h0, logp, 0, which}, {h0, logp, 0, which}});
    }

    numbers.make(stream(seed, chain, iteration, PURPOSE_TREE), 0, 0);
    u32 tree_depth = 0;
    bool diverging = false;
    bool turned = false;
    while (tree_depth < limits.max_depth) {
      const bool forward = numbers.forward(tree_depth);
      S::load(work.end_x(forward), x);
      S::load(work.end_w(forward), w);
      S::load(work.end_r(forward), r);
      bool straight = true;
      for (u32 leaf = 0; leaf < 1u << tree_depth; ++leaf) {
        T leaf_logp, square;
        const T step = forward ? tree.peek().step_size : -tree.peek().step_size;
        const bool valued = space.leapfrog(step, x, w, r, leaf_logp);
        // What is left in rho is read after the last leaf only: until then no register keeps it.
        OCTOPUS_UNROLL
        for (int e = 0; e < E; ++e) rho.row[e] = W::splat((R)0);
        // A leaf that ends a pair is joined at once, while its square is summed.
        straight = true;
        if ((leaf & 1u) != 0) {
          straight = join_leaves<VACATED>(work.begin(leaf - 1, tree_depth), r, rho, square);
        } else {
          square = dot<VACATED>(r, r);
        }
        const T energy = valued ? (T)0.5 * square - leaf_logp : Constants<T>::infinity();
        Tree now = tree.get();
        if (now.n_steps % TreeNumbers<S>::LEAVES == 0 && now.n_steps != 0)
          numbers.make(address.peek().numbers(seed), tree_depth, now.n_steps);
        const T uniform = numbers.of_leaf(now.n_steps);
        const bool chosen = now.add(uniform, limits, forward, energy, diverging);
        tree.set(now);
        if (chosen) {
          const u32 other = 1 - points.peek().proposal.which;
          points.set(&Points::candidate, {energy, leaf_logp, forward ? now.ends[1] : now.ends[0], other});
          S::store(work.x(other), x);
          S::store(work.w(other), w);
        }
        straight = !diverging && straight && finish(leaf, tree_depth, r, rho);
        if (!straight) break;
      }
      if (!straight) {
        turned = !diverging;
        break;
      }
      {
        // Biased progressive sampling: the new half is favoured by its share of the old.
        Tree now = tree.get();
        const T accept = numbers.of_doubling(tree_depth);
        if (now.has_candidate && accept * now.weights.tree < now.weights.subtree)
          points.set(&Points::proposal, points.get().candidate);
        now.weights.tree = now.weights.tree + now.weights.subtree;
        now.weights.subtree = (T)0;
        now.has_candidate = 0;
        tree.set(now);
      }
      // Seen in the direction of this doubling the old tree comes first.
      if (tree_depth == 0) {
        T unused;
        straight = join_leaves(work.end_r(!forward), r, rho, unused);
      } else {
        straight = join(work.end_r(!forward), work.end_r(forward), work.rho(), work.begin(0, tree_depth), r, rho);
      }
      tree_depth += 1;
      if (!straight) {
        turned = true;
        break;
      }
      S::store(work.end_x(forward), x);
      S::store(work.end_w(forward), w);
      S::store(work.end_r(forward), r);
      S::store(work.rho(), rho);
    }

    const Tree& end = tree.peek();
    const Selected& drawn = points.peek().proposal;
    which = drawn.which;
    logp = drawn.logp;
    Record record;
    record.lp = (double)logp;
    record.acceptance_rate = (double)(end.acceptance / (T)(end.n_steps > 1 ? end.n_steps : 1));
    record.step_size = (double)end.step_size;
    record.energy = (double)drawn.energy;
    record.energy_error = (double)(drawn.energy - end.h0);
    record.max_energy_error = (double)end.max_energy_error;
    record.tree_depth = tree_depth;
    record.n_steps = end.n_steps;
    record.index_in_trajectory = drawn.index;
    record.flags = (diverging ? 1u : 0u) | (!diverging && !turned && tree_depth == limits.max_depth ? 2u : 0u);
    return record;
  }

 private:
  /// A point of the trajectory; its vectors are those of the point `which` in the workspace.
  struct Selected {
    T energy, logp;
    int index;
    u32 which;
  };

  /// The point chosen so far and the one that is chosen from the doubling.
  struct alignas(16) Points {
    Selected proposal, candidate;
  };

  /// Whose random numbers the tree's are.
  struct Address {
    u32 chain, iteration;
    OCTOPUS_DEVICE Stream numbers(const u64& seed) const { return stream(seed, chain, iteration, PURPOSE_TREE); }
  };

  OCTOPUS_DEVICE static T size(T x) { return x < (T)0 ? -x : x; }

  /// The numbers of the tree that each leaf meets: 16 bytes of them are loaded and stored at once.
  struct alignas(16) Tree {
    /// Steps from the start to the left and the right end, negative to the left.
    int ends[2];
    u32 n_steps;
    u32 has_candidate;
    Weights<T> weights;
    T acceptance, max_energy_error;
    T h0, step_size;
    /// In place of padding, which would be copied byte by byte.
    T unused;

    /// Adds the leaf at the end `forward`; whether it is chosen from its subtree so far, by a `uniform` number.
    OCTOPUS_DEVICE bool add(T uniform, const Limits<T>& limits, bool forward, T energy, bool& diverging) {
      if (forward) {
        ends[1] += 1;
      } else {
        ends[0] -= 1;
      }
      n_steps += 1;
      const T error = energy != energy ? Constants<T>::infinity() : energy - h0;
      if (size(error) > size(max_energy_error)) max_energy_error = error;
      diverging = error > limits.max_energy_error;
      if (diverging) return false;
      const T weight = weights.add(-error);
      acceptance = acceptance + (error <= (T)0 ? (T)1 : (weights.reference == (T)0 ? weight : exp(-error)));
      if (!(uniform * weights.subtree < weight)) return false;
      has_candidate = 1;
      return true;
    }
  };

  /// Joins what leaf `leaf` of the doubling `depth` ends, whose momentum is `r`, with the subtrees that wait for it: the
  /// leaf itself, or the pair of leaves whose sum is `rho`. Has the result wait unless it is the whole doubling, whose sum
  /// is then `rho`. False if one makes a U-turn.
  ///
  /// The bits of `leaf` say which levels wait: those that the leaves before it make.
  OCTOPUS_DEVICE bool finish(u32 leaf, u32 depth, const Vec& r, Vec& rho) const {
    if ((leaf & 1u) == 0) {
      if (depth > 0) S::store(work.begin(leaf, depth), r);
      return true;
    }
    u32 level = 1;
    for (; (leaf >> level & 1u) != 0; ++level) {
      const u32 second = leaf + 1 - (1u << level);
      const u32 first = second - (1u << level);
      if (!join(work.begin(first, depth), work.level_end(level), work.level_rho(level), work.begin(second, depth), r,
                rho))
        return false;
    }
    if (level < depth) {
      S::store(work.level_end(level), r);
      S::store(work.level_rho(level), rho);
    }
    return true;
  }
};

}  // namespace octopus::nuts
