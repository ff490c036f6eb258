// The hierarchical normal where one chain reads so many observations that blocks share them: the twin of `Pointwise` in
// crates/models/src/hierarchical_normal/density/kernel/pull.rs.
//
// A task is a block of 32 small groups, each a lane's as in hierarchical_normal.cuh, or a tile of a large group, in which
// observation i belongs to lane i mod 32. What tiles answer is added in their order.
#pragma once
#include "hierarchical_normal.cuh"
#include "team.cuh"

namespace octopus::nuts {

/// Which observations are whose: `HierarchicalNormal::team_data` in crates/models.
template <class R> struct HierarchicalNormalTiles {
  /// Observations of each small group; 0 for large groups and in the padding.
  const R* members;
  /// Tiles of all groups, one group after another.
  u32 count;
  /// Each group's first tile, and the end: a small group has none.
  const u32* first;
  /// For each tile its group, its first row of 32 values, and the number of its values.
  const u32* group;
  const u32* row;
  const u32* len;
  /// Observations less the prior's mean; each group's end with zeros to a whole row.
  const R* values;
};

static_assert(sizeof(HierarchicalNormalTiles<double>) == 56, "the host packs it");

/// What a team reads, and where it meets.
template <class R, class T> struct HierarchicalNormalTeamData {
  HierarchicalNormalData<R, T> model;
  HierarchicalNormalTiles<R> tiles;
};

static_assert(sizeof(HierarchicalNormalTeamData<double, double>) == 232, "the host packs it");
static_assert(sizeof(HierarchicalNormalTeamData<float, float>) == 184, "the host packs it");

/// Observations that a team of blocks reads.
template <class S> struct SharedObservations {
  using R = typename S::R;
  using T = typename S::T;
  using W = typename S::W;
  using V = typename S::V;
  static constexpr int L = S::L;
  static constexpr bool POINTWISE = true;
  /// A task's lanes.
  using Warp = Lanes<32>;
  using Row = typename Warp::template Of<R>;

  struct Data {
    const HierarchicalNormalTeamData<R, T>& own;
    const Team<R, T>& team;
  };

  OCTOPUS_DEVICE static const HierarchicalNormalData<R, T>& model(const Data& data) { return data.own.model; }

  /// Has the team sum the observations about the groups' means, of which `location(e)` is row `e`.
  template <class F> OCTOPUS_DEVICE static void ask(const Data& data, F location) {
    R* asked = W::mine(data.team.asked + (u64)member(data.team).chain * S::SIZE);
    OCTOPUS_UNROLL
    for (int e = 0; e < S::E; ++e) W::store(asked + e * L, location(e));
    lead<L>(data.team, tasks(data), [&](u32 number) { task(data, number); });
  }

  /// What the team has answered for row `e` of groups: the sum of the residuals and of their squares.
  OCTOPUS_DEVICE static void pull(const Data& data, int e, const V&, V& residual, V& squares) {
    const T* answers = answers_of_chain(data);
    residual = W::splat((R)0);
    squares = residual;
    W::each(residual, squares, [&](u32 lane, R& sum, R& sum_squares) {
      const u32 group = (u32)(e * L) + lane;
      if (group >= model(data).groups) return;
      const u32 first = data.own.tiles.first[group];
      const u32 end = data.own.tiles.first[group + 1];
      if (first == end) {
        sum = (R)answers[small(group)];
        sum_squares = (R)answers[small(group) + 32];
        return;
      }
      const T* tile = answers + tile_answer(data, first);
      T total = tile[0];
      T total_squares = tile[1];
      OCTOPUS_UNROLL_BY(8)
      for (u32 t = first + 1; t < end; ++t) {
        tile += 2;
        total = total + tile[0];
        total_squares = total_squares + tile[1];
      }
      sum = (R)total;
      sum_squares = (R)total_squares;
    });
  }

  /// What the blocks do that do not lead.
  OCTOPUS_DEVICE static void help(const Data& data) {
    serve<L>(data.team, tasks(data), [&](u32 number) { task(data, number); });
  }

 private:
  OCTOPUS_DEVICE static u32 blocks_of_groups(const Data& data) { return (model(data).groups + 31) / 32; }

  OCTOPUS_DEVICE static u32 tasks(const Data& data) { return blocks_of_groups(data) + data.own.tiles.count; }

  OCTOPUS_DEVICE static T* answers_of_chain(const Data& data) {
    return data.team.answers + (u64)member(data.team).chain * data.team.stride;
  }

  /// Where the sum of a small group's residuals is; that of their squares is 32 places on.
  OCTOPUS_DEVICE static u32 small(u32 group) { return group / 32 * 64 + group % 32; }

  /// Where the two sums of a tile are.
  OCTOPUS_DEVICE static u32 tile_answer(const Data& data, u32 tile) { return 64 * blocks_of_groups(data) + 2 * tile; }

  OCTOPUS_DEVICE static void task(const Data& data, u32 number) {
    const u32 blocks = blocks_of_groups(data);
    if (number < blocks) {
      sum_block(data, number);
    } else {
      sum_tile(data, number - blocks);
    }
  }

  /// A block of 32 small groups, each lane one.
  OCTOPUS_DEVICE static void sum_block(const Data& data, u32 block) {
    Row residual = Warp::load(Warp::mine(data.own.tiles.members + 32 * block));
    Row squares = Warp::load(Warp::mine(data.team.asked + (u64)member(data.team).chain * S::SIZE + 32 * block));
    T* answers = answers_of_chain(data) + small(32 * block);
    Warp::each(residual, squares, [&](u32 lane, R& out, R& out_squares) {
      sum_in_order(model(data), 32 * block + lane, out, out_squares, out, out_squares);
      answers[lane] = (T)out;
      answers[lane + 32] = (T)out_squares;
    });
  }

  OCTOPUS_DEVICE static void sum_tile(const Data& data, u32 tile) {
    const HierarchicalNormalTiles<R>& tiles = data.own.tiles;
    const R location = data.team.asked[(u64)member(data.team).chain * S::SIZE + tiles.group[tile]];
    const R* row = Warp::mine(tiles.values + (u64)tiles.row[tile] * 32);
    const u32 len = tiles.len[tile];
    const Row zero = Warp::splat((R)0);
    Row parts[2] = {zero, zero};
    const u32 whole = len / 32;
    // Loads that are under way together: a block is alone with its multiprocessor's share of the memory.
    OCTOPUS_UNROLL_BY(16)
    for (u32 k = 0; k < whole; ++k, row += 32) {
      const Row difference = Warp::load(row) - location;
      parts[0] = parts[0] + difference;
      parts[1] = parts[1] + difference * difference;
    }
    if (len % 32 != 0) {
      const Row difference = Warp::first((int)(len % 32), Warp::load(row) - location, zero);
      parts[0] = parts[0] + difference;
      parts[1] = parts[1] + difference * difference;
    }
    T sums[2];
    Warp::sum(parts, sums);
    if (Warp::writes()) {
      T* answer = answers_of_chain(data) + tile_answer(data, tile);
      answer[0] = sums[0];
      answer[1] = sums[1];
    }
  }
};

/// The hierarchical normal, each chain by a team.
template <class S> using HierarchicalNormalTeam = HierarchicalNormalOver<S, SharedObservations<S>>;

}  // namespace octopus::nuts
