// Several blocks that share the evaluations of one chain, for densities that read more than a block can read in time.
//
// The first block of a team leads: it carries the chain as if it were alone. Where the density has tasks to share, the
// leader publishes what they depend on and then the number of the question; the other blocks wait for that number, do
// their part of the tasks, and answer with the same number. A task is a warp's, and its answer has a place of its own:
// no bit depends on who does it, nor on how many there are.
//
// Blocks that wait for each other must all be on the device: a launch of teams of more than one block is cooperative.
#pragma once
#include "lanes.cuh"

namespace octopus::nuts {

/// Where the blocks of each team meet. Numbers of questions and answers are 0 between launches.
template <class R, class T> struct Team {
  /// Blocks of a team.
  u32 blocks;
  /// Elements between two chains' answers.
  u32 stride;
  /// The number of each chain's question.
  u32* questions;
  /// The question that each block has answered, chains x blocks.
  u32* answered;
  /// What the tasks of each chain depend on: a vector.
  R* asked;
  /// What they answer.
  T* answers;
};

static_assert(sizeof(Team<double, double>) == 40 && sizeof(Team<float, float>) == 40, "the host packs it");

/// A block as a member of its chain's team.
struct Member {
  /// The chain of the launch.
  u32 chain;
  /// 0 leads.
  u32 number;
};

template <class R, class T> OCTOPUS_DEVICE Member member(const Team<R, T>& team) {
  return {blockIdx.x / team.blocks, blockIdx.x % team.blocks};
}

/// The number of a question that sends the others home.
constexpr u32 DISMISSED = 0xffffffffu;

/// A number that another block writes.
OCTOPUS_DEVICE u32 look(const u32* place) { return *(const volatile u32*)place; }

/// Writes a number after everything that this thread has written before, or that others of its block have written before
/// they met it at a barrier: a release holds for what its thread knows of, too (PTX ISA 8.9.5, causality order), as in the
/// grid's barrier of cooperative groups.
OCTOPUS_DEVICE void tell(u32* place, u32 number) { store_release(place, number); }

/// Waits until a number is another than `old`; what was written before it is then visible to this thread, and to those that
/// it meets at a barrier afterwards.
OCTOPUS_DEVICE u32 await_change(const u32* place, u32 old) {
  u32 now = load_acquire(place);
  for (; now == old; now = load_acquire(place)) __nanosleep(32);
  return now;
}

#if defined(OCTOPUS_HOST_LANES)

/// Threads of a block that come to its tasks: one is all lanes of all warps.
OCTOPUS_DEVICE bool takes_part(u32) { return threadIdx.x == 0; }

/// Calls f(number) for each of the block's `warps` warps that this thread is in.
template <class F> OCTOPUS_DEVICE void each_warp(u32 warps, F f) {
  for (u32 w = 0; w < warps; ++w) f(w);
}

/// Until all threads of a block of helpers are here.
OCTOPUS_DEVICE void meet() {}

#else

OCTOPUS_DEVICE bool takes_part(u32 threads) { return threadIdx.x < threads; }

template <class F> OCTOPUS_DEVICE void each_warp(u32, F f) { f(threadIdx.x / 32); }

OCTOPUS_DEVICE void meet() { __syncthreads(); }

#endif

/// Does all tasks, by their numbers, with the others of the team. For the L lanes of the leader, which have published in
/// `asked` what the tasks depend on. All lanes must come here.
template <int L, class R, class T, class F> OCTOPUS_DEVICE void lead(const Team<R, T>& team, u32 tasks, F task) {
  using W = Lanes<L>;
  constexpr u32 OWN = (u32)L / 32;
  const u32 chain = member(team).chain;
  u32* question = team.questions + chain;
  // The lanes' own writes first, then the number that tells of them.
  W::fence();
  const u32 number = look(question) + 1;
  W::fence();
  if (team.blocks > 1 && W::writes()) tell(question, number);
  const u32 warps = OWN + (team.blocks - 1) * (blockDim.x / 32);
  each_warp(OWN, [&](u32 warp) {
    for (u32 t = warp; t < tasks; t += warps) task(t);
  });
  W::each_one(team.blocks - 1, [&](u32 other) {
    await_change(team.answered + chain * team.blocks + 1 + other, number - 1);
  });
  W::fence();
}

/// What the other blocks do until they are dismissed: their part of the tasks, at each question.
template <int L, class R, class T, class F> OCTOPUS_DEVICE void serve(const Team<R, T>& team, u32 tasks, F task) {
  __shared__ u32 question;
  const Member own = member(team);
  const u32 each_block = blockDim.x / 32;
  const u32 first = (u32)L / 32 + (own.number - 1) * each_block;
  const u32 warps = (u32)L / 32 + (team.blocks - 1) * each_block;
  u32* answered = team.answered + own.chain * team.blocks + own.number;
  for (u32 done = 0; done != DISMISSED;) {
    if (threadIdx.x == 0) question = await_change(team.questions + own.chain, done);
    meet();
    done = question;
    if (done != DISMISSED) {
      each_warp(each_block, [&](u32 warp) {
        for (u32 t = first + warp; t < tasks; t += warps) task(t);
      });
    }
    meet();
    if (threadIdx.x == 0) tell(answered, done);
  }
}

/// Sends the others home and leaves all numbers as they were before the launch. For the lanes of the leader.
template <int L, class R, class T> OCTOPUS_DEVICE void dismiss(const Team<R, T>& team) {
  using W = Lanes<L>;
  if (team.blocks == 1) return;
  const u32 chain = member(team).chain;
  W::fence();
  const u32 last = look(team.questions + chain);
  W::fence();
  if (W::writes()) tell(team.questions + chain, DISMISSED);
  W::each_one(team.blocks - 1, [&](u32 other) {
    u32* answered = team.answered + chain * team.blocks + 1 + other;
    await_change(answered, last);
    *answered = 0;
  });
  W::fence();
  if (W::writes()) team.questions[chain] = 0;
}

}  // namespace octopus::nuts
