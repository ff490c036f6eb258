// The hierarchical normal where one chain reads so many observations that blocks share them: the twin of `Pointwise` in
// crates/models/src/hierarchical_normal/density/kernel/pull.rs.
//
// A task is a block of 32 small groups, each a lane's as in hierarchical_normal.cuh; or a tile of a large group, in which
// observation i belongs to lane i mod 32; or a group of several tiles, whose answers it adds in their order. The leader
// awaits one answer for each group.
#pragma once
#include "hierarchical_normal.cuh"
#include "team.cuh"

namespace octopus::nuts {

/// Which observations are whose: `HierarchicalNormal::team_data` in crates/models.
template <class R> struct HierarchicalNormalTiles {
  /// Observations of each small group; 0 for large groups and in the padding.
  const R* members;
  /// The blocks of 32 groups of which some are small, and their number.
  u32 blocks;
  /// Tiles of all groups, one group after another.
  u32 count;
  /// Groups of several tiles.
  u32 joins;
  const u32* block;
  const u32* join;
  /// Each group's first tile, and the end: a small group has none.
  const u32* first;
  /// For each tile its group, its first row of 32 values, and the number of its values.
  const u32* group;
  const u32* row;
  const u32* len;
  /// Observations less the prior's mean; each group's end with zeros to a whole row.
  const R* values;
};

static_assert(sizeof(HierarchicalNormalTiles<double>) == 80, "the host packs it");

/// What a team reads, and where it meets.
template <class R, class T> struct HierarchicalNormalTeamData {
  HierarchicalNormalData<R, T> model;
  HierarchicalNormalTiles<R> tiles;
};

static_assert(sizeof(HierarchicalNormalTeamData<double, double>) == 256, "the host packs it");
static_assert(sizeof(HierarchicalNormalTeamData<float, float>) == 208, "the host packs it");

/// Observations that a team of blocks reads.
template <class S> struct SharedObservations {
  using R = typename S::R;
  using T = typename S::T;
  using W = typename S::W;
  using V = typename S::V;
  static constexpr int L = S::L;
  static constexpr int E = S::E;
  static constexpr bool POINTWISE = true;
  /// A task's lanes.
  using Warp = Lanes<32>;
  using Row = typename Warp::template Of<R>;

  struct Data {
    const HierarchicalNormalTeamData<R, T>& own;
    const Team<R, T>& team;
  };

  OCTOPUS_DEVICE static const HierarchicalNormalData<R, T>& model(const Data& data) { return data.own.model; }

  /// The sums of the residuals and of their squares, for each group.
  struct Answers {
    V residual[E], squares[E];
  };

  /// Has the team sum the observations about the groups' means, of which `location(e)` is row `e`.
  template <class F> OCTOPUS_DEVICE static Answers ask(const Data& data, F location) {
    const u32 question = number_question<L>(data.team);
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) post_row(data, e, location(e), question);
    lead<L>(data.team, tasks(data), [&](u32 number) { task(data, number, question); });
    return await(data, question);
  }

  /// What the team has answered for row `e` of groups: the sum of the residuals and of their squares.
  OCTOPUS_DEVICE static void pull(const Data&, int e, const V&, const Answers& answers, V& residual, V& squares) {
    residual = answers.residual[e];
    squares = answers.squares[e];
  }

  /// What the blocks do that do not lead.
  OCTOPUS_DEVICE static void help(const Data& data) {
    serve<L>(data.team, tasks(data), [&](u32 number, u32 question) { return task(data, number, question); });
  }

  /// Sends them home. For the lanes of the leader.
  OCTOPUS_DEVICE static void dismiss(const Data& data) {
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) post_row(data, e, W::splat((R)0), dismissal(data.team));
  }

 private:
  /// Rows of a tile whose loads are under way together: a block is alone with its multiprocessor's share of the memory.
  static constexpr u32 LOADS = 16;

  /// Rows whose answers are awaited together.
  static constexpr int ROWS = E < 4 ? E : 4;
  static_assert(E % ROWS == 0, "some rows would be left");

  OCTOPUS_DEVICE static u32 tasks(const Data& data) {
    return data.own.tiles.blocks + data.own.tiles.count + data.own.tiles.joins;
  }

  OCTOPUS_DEVICE static Letter<R>* asked_of_chain(const Data& data) {
    return data.team.asked + (u64)member(data.team).chain * S::SIZE;
  }

  OCTOPUS_DEVICE static Letter<T>* answers_of_chain(const Data& data) {
    return data.team.answers + (u64)member(data.team).chain * data.team.stride;
  }

  /// The two letters of a group: the sum of the residuals and that of their squares.
  OCTOPUS_DEVICE static u32 group_answer(u32 group) { return 2 * group; }

  /// The two letters of a tile that is one of several.
  OCTOPUS_DEVICE static u32 tile_answer(const Data& data, u32 tile) {
    return 2 * ((model(data).groups + 31) / 32 * 32 + tile);
  }

  OCTOPUS_DEVICE static void post_row(const Data& data, int e, V value, u32 question) {
    V unused = value;
    W::each(value, unused, [&](u32 lane, R& own, R&) {
      post(asked_of_chain(data)[(u32)(e * L) + lane], own, question);
    });
  }

  /// Waits for what all tasks answer.
  OCTOPUS_DEVICE static Answers await(const Data& data, u32 question) {
    Answers all;
    OCTOPUS_UNROLL
    for (int e = 0; e < E; e += ROWS) {
      V residual[ROWS], squares[ROWS];
      OCTOPUS_UNROLL
      for (int k = 0; k < ROWS; ++k) residual[k] = squares[k] = W::splat((R)0);
      if ((u32)(e * L) < model(data).groups) {
        W::each(residual, squares, [&](u32 lane, R(&sums)[ROWS], R(&sums_squares)[ROWS]) {
          await_rows(data, question, (u32)(e * L) + lane, sums, sums_squares);
        });
      }
      OCTOPUS_UNROLL
      for (int k = 0; k < ROWS; ++k) {
        all.residual[e + k] = residual[k];
        all.squares[e + k] = squares[k];
      }
    }
    return all;
  }

  /// Waits for the answers of the group `from` and of those a row and more rows on; sets nothing where there is no group.
  OCTOPUS_DEVICE static void await_rows(const Data& data, u32 question, u32 from, R (&sums)[ROWS],
                                        R (&sums_squares)[ROWS]) {
    const Letter<T>* answers = answers_of_chain(data);
    const u32 groups = model(data).groups;
    // All at once: they take one way to the second-level cache.
    T all[2 * ROWS];
    const auto answer = [&](int i) -> const Letter<T>& {
      const u32 group = from + (u32)(i / 2 * L);
      return answers[group_answer(group < groups ? group : groups - 1) + (u32)(i % 2)];
    };
    receive(answer, question, all);
    OCTOPUS_UNROLL
    for (int k = 0; k < ROWS; ++k) {
      if (from + (u32)(k * L) < groups) {
        sums[k] = (R)all[2 * k];
        sums_squares[k] = (R)all[2 * k + 1];
      }
    }
  }

  /// Does a task of a question. Returns whether the question has come.
  OCTOPUS_DEVICE static bool task(const Data& data, u32 number, u32 question) {
    const HierarchicalNormalTiles<R>& tiles = data.own.tiles;
    if (number < tiles.blocks) return sum_block(data, tiles.block[number], question);
    if (number - tiles.blocks < tiles.count) return sum_tile(data, number - tiles.blocks, question);
    return join_tiles(data, tiles.join[number - tiles.blocks - tiles.count], question);
  }

  /// The small ones of a block of 32 groups, each a lane's.
  OCTOPUS_DEVICE static bool sum_block(const Data& data, u32 block, u32 question) {
    Row residual = Warp::load(Warp::mine(data.own.tiles.members + 32 * block));
    Row squares = residual;
    bool has_come = true;
    Warp::each(residual, squares, [&](u32 lane, R&, R& location) {
      R own[1];
      has_come = receive([&](int) -> const Letter<R>& { return asked_of_chain(data)[32 * block + lane]; }, question, own);
      location = own[0];
    });
    // The leader does not wait for the answers of all lanes: those that have none must have read their letter.
    Warp::fence();
    if (!has_come) return false;
    Letter<T>* answers = answers_of_chain(data);
    Warp::each(residual, squares, [&](u32 lane, R& members, R& location) {
      if (members == (R)0) return;
      R sum, sum_squares;
      sum_in_order(model(data), 32 * block + lane, members, location, sum, sum_squares);
      const u32 own = group_answer(32 * block + lane);
      post(answers[own], (T)sum, question);
      post(answers[own + 1], (T)sum_squares, question);
    });
    return true;
  }

  OCTOPUS_DEVICE static bool sum_tile(const Data& data, u32 tile, u32 question) {
    const HierarchicalNormalTiles<R>& tiles = data.own.tiles;
    const u32 group = tiles.group[tile];
    const bool is_alone = tiles.first[group + 1] - tiles.first[group] == 1;
    Letter<T>* answer = answers_of_chain(data) + (is_alone ? group_answer(group) : tile_answer(data, tile));
    const Letter<R>& asked = asked_of_chain(data)[group];
    const R* row = Warp::mine(tiles.values + (u64)tiles.row[tile] * 32);
    u32 left = tiles.len[tile];
    R location[1];
    if (!receive([&](int) -> const Letter<R>& { return asked; }, question, location)) return false;
    const Row zero = Warp::splat((R)0);
    Row parts[2] = {zero, zero};
    const auto add = [&](const Row& difference) {
      parts[0] = parts[0] + difference;
      parts[1] = parts[1] + difference * difference;
    };
    for (; left >= 32 * LOADS; left -= 32 * LOADS, row += 32 * LOADS) {
      OCTOPUS_UNROLL
      for (u32 k = 0; k < LOADS; ++k) add(Warp::load(row + 32 * k) - location[0]);
    }
    if (left > 0) {
      // One by one, each of the last rows would wait for its load. Beyond the last it is read again, and 0 is added.
      const u32 last = (left - 1) / 32;
      OCTOPUS_UNROLL
      for (u32 k = 0; k < LOADS; ++k) {
        const Row difference = Warp::load(row + 32 * (k < last ? k : last)) - location[0];
        add(Warp::first((int)left - (int)(32 * k), difference, zero));
      }
    }
    T sums[2];
    Warp::sum(parts, sums);
    post_both(answer, sums, question);
    return true;
  }

  /// Adds what the tiles of a group have answered, in their order. A lane waits for each 32nd of them.
  OCTOPUS_DEVICE static bool join_tiles(const Data& data, u32 group, u32 question) {
    const u32 first = data.own.tiles.first[group];
    const u32 end = data.own.tiles.first[group + 1];
    const Letter<R>& asked = asked_of_chain(data)[group];
    R location[1];
    if (!receive([&](int) -> const Letter<R>& { return asked; }, question, location)) return false;
    Letter<T>* answers = answers_of_chain(data);
    T sums[2] = {};
    for (u32 begin = first; begin < end; begin += 32) {
      const u32 count = end - begin < 32 ? end - begin : 32;
      typename Warp::template Of<T> residual = Warp::splat((T)0), squares = residual;
      Warp::each(residual, squares, [&](u32 lane, T& sum, T& sum_squares) {
        const Letter<T>* tile = answers + tile_answer(data, begin + (lane < count ? lane : count - 1));
        T own[2];
        receive([&](int i) -> const Letter<T>& { return tile[i]; }, question, own);
        sum = own[0];
        sum_squares = own[1];
      });
      OCTOPUS_UNROLL_BY(4)
      for (u32 lane = 0; lane < count; ++lane) {
        T next[2][1];
        Warp::pick(residual, lane, next[0]);
        Warp::pick(squares, lane, next[1]);
        // (The first is not added to 0, which would change the sign of a zero.)
        OCTOPUS_UNROLL
        for (int i = 0; i < 2; ++i) sums[i] = begin + lane == first ? next[i][0] : sums[i] + next[i][0];
      }
    }
    post_both(answers + group_answer(group), sums, question);
    return true;
  }

  /// Posts the two letters of an answer. For all lanes of a warp, which have the same sums.
  OCTOPUS_DEVICE static void post_both(Letter<T>* answer, const T (&sums)[2], u32 question) {
    if (!Warp::writes()) return;
    post(answer[0], sums[0], question);
    post(answer[1], sums[1], question);
  }
};

/// The hierarchical normal, each chain by a team.
template <class S> using HierarchicalNormalTeam = HierarchicalNormalOver<S, SharedObservations<S>>;

}  // namespace octopus::nuts
