// Several blocks that share the evaluations of one chain, for densities that read more than a block can read in time.
//
// The first block of a team leads: it carries the chain as if it were alone. Where the density has tasks to share, the
// leader posts what they depend on; each warp of the other blocks waits for what its tasks need, does them, and posts the
// answers, for which the leader waits. A task is a warp's, and its answers have a place of their own: no bit depends on
// who does it, nor on how many there are. A task may need the answers of tasks with lower numbers.
//
// What is posted is letters. A letter carries the number of its question in each of its words, so whoever finds that
// number in all of them has the letter: there is no flag beside it and no fence before it, a warp waits for no other of
// its block, and nobody's first-level cache is emptied, as it is by a load that acquires. NCCL calls this LL.
//
// Blocks that wait for each other must all be on the device: a launch of teams of more than one block is cooperative.
#pragma once
#include "lanes.cuh"

namespace octopus::nuts {

/// A number that another block reads while it is written: half of each word is the number's, half the question's.
template <class T> struct alignas(2 * sizeof(T)) Letter {
  static constexpr int WORDS = sizeof(T) / 4;
  u64 words[WORDS];
};

/// Where the blocks of each team meet. Every letter has been written in an earlier launch, or is 0.
template <class R, class T> struct Team {
  /// Blocks of a team.
  u32 blocks;
  /// Letters between two chains' answers.
  u32 stride;
  /// Another number than that of any launch before, above 0 and below 2^24.
  u32 launch;
  /// The number of each chain's last question, one for each lane of its leader.
  u32* questions;
  /// What the tasks of each chain depend on: a vector.
  Letter<R>* asked;
  /// What they answer.
  Letter<T>* answers;
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

/// What the leader's letters carry at the end of a launch: no question, it sends the others home. Questions have the
/// numbers after it, of which the launch is the upper part: no letter of another launch is taken for one of this.
template <class R, class T> OCTOPUS_DEVICE u32 dismissal(const Team<R, T>& team) { return team.launch << 8; }

/// The launch's question after this one. Numbers come back after 255 questions: by then all letters have been rewritten.
OCTOPUS_DEVICE u32 next_question(u32 number) {
  const u32 launch = number & ~0xffu;
  return launch | (number - launch) % 255u + 1u;
}

/// The halves of a number's bits, or its bits.
OCTOPUS_DEVICE void to_parts(double value, u32 (&parts)[2]) {
  const u64 bits = to_bits(value);
  parts[0] = low_word(bits);
  parts[1] = high_word(bits);
}
OCTOPUS_DEVICE void to_parts(float value, u32 (&parts)[1]) { parts[0] = to_bits(value); }
OCTOPUS_DEVICE double from_parts(const u32 (&parts)[2]) { return from_bits(to_word(parts[1], parts[0])); }
OCTOPUS_DEVICE float from_parts(const u32 (&parts)[1]) { return from_bits(parts[0]); }

/// Writes a letter of this question.
template <class T> OCTOPUS_DEVICE void post(Letter<T>& letter, T value, u32 question) {
  u32 parts[Letter<T>::WORDS];
  to_parts(value, parts);
  u64 words[Letter<T>::WORDS];
  OCTOPUS_UNROLL
  for (int w = 0; w < Letter<T>::WORDS; ++w) words[w] = to_word(parts[w], question);
  store_relaxed(letter.words, words);
}

/// Waits for K letters, which `letter(k)` names, of this question. Returns whether they have come: the leader has sent the
/// others home if not.
template <int K, class T, class F> OCTOPUS_DEVICE bool receive(F letter, u32 question, T (&values)[K]) {
  constexpr int WORDS = Letter<T>::WORDS;
  for (;;) {
    u64 words[K][WORDS];
    OCTOPUS_UNROLL
    for (int k = 0; k < K; ++k) load_relaxed(letter(k).words, words[k]);
    u32 other = 0;
    OCTOPUS_UNROLL
    for (int k = 0; k < K; ++k) {
      u32 parts[WORDS];
      OCTOPUS_UNROLL
      for (int w = 0; w < WORDS; ++w) {
        other |= low_word(words[k][w]) ^ question;
        parts[w] = high_word(words[k][w]);
      }
      values[k] = from_parts(parts);
    }
    if (other == 0) return true;
    if (low_word(words[0][0]) == (question & ~0xffu)) return false;
    // For at most 16 ns.
    __nanosleep(8);
  }
}

#if defined(OCTOPUS_HOST_LANES)

/// Threads of a block that come to its tasks: one is all lanes of all warps.
OCTOPUS_DEVICE bool takes_part(u32) { return threadIdx.x == 0; }

/// Calls f(number) for each of the block's `warps` warps that this thread is in.
template <class F> OCTOPUS_DEVICE void each_warp(u32 warps, F f) {
  for (u32 w = 0; w < warps; ++w) f(w);
}

#else

OCTOPUS_DEVICE bool takes_part(u32 threads) { return threadIdx.x < threads; }

template <class F> OCTOPUS_DEVICE void each_warp(u32, F f) { f(threadIdx.x / 32); }

#endif

/// A lane's own number of its chain's last question: for one that all lanes have in common they would wait for each other.
template <int L, class R, class T> OCTOPUS_DEVICE u32& last_question(const Team<R, T>& team) {
  return *Lanes<L>::mine(team.questions + (u64)member(team).chain * L);
}

/// What a leader does before its first question. For its L lanes.
template <int L, class R, class T> OCTOPUS_DEVICE void begin(const Team<R, T>& team) {
  last_question<L>(team) = dismissal(team);
}

/// The number of the leader's next question. For its L lanes, all of which must come here.
template <int L, class R, class T> OCTOPUS_DEVICE u32 number_question(const Team<R, T>& team) {
  u32& last = last_question<L>(team);
  return last = next_question(last);
}

/// Does the tasks of `warps` warps of a block, of which the first is the team's `first`th, in the order of their numbers: a
/// task may wait for the answers of those before it.
template <int L, class R, class T, class F>
OCTOPUS_DEVICE void do_tasks(const Team<R, T>& team, u32 first, u32 warps, u32 tasks, F task) {
  const u32 all = (team.blocks - 1) * (blockDim.x / 32) + (u32)L / 32;
  for (u32 from = first; from < tasks; from += all) {
    each_warp(warps, [&](u32 warp) {
      if (from + warp < tasks) task(from + warp);
    });
  }
}

/// Does those tasks of a question, by their numbers, that are left to the leader: its warps are the last. For its L lanes,
/// which have posted what the tasks depend on.
template <int L, class R, class T, class F> OCTOPUS_DEVICE void lead(const Team<R, T>& team, u32 tasks, F task) {
  do_tasks<L>(team, (team.blocks - 1) * (blockDim.x / 32), (u32)L / 32, tasks, task);
}

/// What the other blocks do until they are dismissed: their part of the tasks, at each question. task(t, question) returns
/// whether the question has come.
template <int L, class R, class T, class F> OCTOPUS_DEVICE void serve(const Team<R, T>& team, u32 tasks, F task) {
  const u32 warps = blockDim.x / 32;
  const u32 first = (member(team).number - 1) * warps;
  u32 question = dismissal(team);
  // Warps without a task wait for nothing.
  for (bool asked = true; asked;) {
    question = next_question(question);
    asked = false;
    do_tasks<L>(team, first, warps, tasks, [&](u32 t) { asked = task(t, question); });
  }
}

}  // namespace octopus::nuts
