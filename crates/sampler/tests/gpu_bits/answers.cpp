// The kernels of kernels/nuts compiled for the host, their lanes being arrays: reads jobs from standard input and writes
// what they give to standard output, both as little-endian words of 8 bytes in the order of harness.rs.
//
// One program for each precision: OCTOPUS_R and OCTOPUS_T are the types of vectors and of scalars, OCTOPUS_PRECISION
// the name. Numbers of jobs and answers are f64 always, rounded to the types here.
//
// With the software GPU's library of kernels as its argument, runs and restarts are launched there: the entries of
// kernels/nuts/units as a GPU gets them, each lane a fiber of its own.
#define OCTOPUS_HOST_LANES
#include "chain.cuh"
#include "hierarchical_normal.cuh"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <vector>

using namespace octopus;
using namespace octopus::nuts;

namespace {

using R = OCTOPUS_R;
using T = OCTOPUS_T;

enum Task : u64 { EVALUATE, LEAPFROG, RUN, RESTART };

[[noreturn]] void fail(const char* why) {
  fprintf(stderr, "%s\n", why);
  exit(2);
}

/// The software GPU's kernels, if they are asked for.
void* library = nullptr;

/// Launches nuts_<what>_hierarchical_normal_<precision>_<L>x<E> for all chains, in blocks of 128 threads.
template <class S> void launch_fibers(const char* what, u32 chains, void** parameters) {
  using Entry = int (*)(void**, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, size_t, char*, size_t);
  const std::string name = std::string("octopus_launch_nuts_") + what + "_hierarchical_normal_" OCTOPUS_PRECISION "_" +
                           std::to_string(S::L) + "x" + std::to_string(S::E);
  const Entry entry = reinterpret_cast<Entry>(dlsym(library, name.c_str()));
  if (!entry) fail((name + " is not there").c_str());
  char message[1000] = "";
  const unsigned blocks = (chains * S::L + 127) / 128;
  if (entry(parameters, blocks, 1, 1, 128, 1, 1, 0, message, sizeof message) != 0) fail(message);
}

struct Reader {
  bool more(u64& word) { return fread(&word, 8, 1, stdin) == 1; }
  u64 integer() {
    u64 word;
    if (!more(word)) fail("the job ends too early");
    return word;
  }
  T real() { return (T)from_bits(integer()); }
  template <class X> std::vector<X> reals() {
    std::vector<X> out(integer());
    for (X& x : out) x = (X)from_bits(integer());
    return out;
  }
  /// Vectors of `from` elements each, brought to rows of SIZE: the padding is 0.
  template <class S> std::vector<R> padded(size_t vectors = 1) {
    const std::vector<R> all = reals<R>();
    std::vector<R> out(vectors * S::SIZE, (R)0);
    const size_t from = vectors == 0 ? 0 : all.size() / vectors;
    for (size_t i = 0; i < all.size(); ++i) {
      if (i % from < S::SIZE) {
        out[i / from * S::SIZE + i % from] = all[i];
      } else if (all[i] != (R)0) {
        fail("a vector is longer than its rows");
      }
    }
    return out;
  }
};

void write(u64 word) {
  if (fwrite(&word, 8, 1, stdout) != 1) fail("the answer cannot be written");
}
template <class X> void write(const X* values, size_t n) {
  for (size_t i = 0; i < n; ++i) write((u64)to_bits((double)values[i]));
}
inline void write(float value) { write(&value, 1); }
inline void write(double value) { write(&value, 1); }

/// What all tasks need.
template <class S> struct Job {
  std::vector<R> count, mean, transposed, lambda, scale, directions;
  std::vector<T> stretch;
  std::vector<u32> starts;
  HierarchicalNormalData<R, T> data;
  Centering<R, T> centering;
  MetricData<R, T> metric;

  Job(Reader& in, u32 groups) {
    data.groups = groups;
    data.pointwise = (u32)in.integer();
    data.mu_mean = in.real();
    data.mu_sd = in.real();
    data.sigma_pop_scale = in.real();
    data.sigma_obs_scale = in.real();
    data.within = in.real();
    data.total = in.real();
    data.count = (count = in.padded<S>()).data();
    data.mean = (mean = in.padded<S>()).data();
    data.transposed = (transposed = in.reals<R>()).data();
    starts.resize(in.integer());
    for (u32& start : starts) start = (u32)in.integer();
    data.starts = starts.data();
    centering.lambda = (lambda = in.padded<S>()).data();
    centering.total = in.real();
    centering.uniform = in.real();
    centering.is_uniform = (u32)in.integer();
    centering.natural = (u32)in.integer();
    metric.scale = (scale = in.padded<S>()).data();
    metric.rank = (u32)in.integer();
    metric.directions = (directions = in.padded<S>(metric.rank)).data();
    metric.stretch = (stretch = in.reals<T>()).data();
  }
};

template <class S> typename S::Vec padded(const R* x, u32 dim) {
  std::vector<R> whole(S::SIZE, (R)0);
  for (u32 i = 0; i < dim; ++i) whole[i] = x[i];
  typename S::Vec out;
  S::load(whole.data(), out);
  return out;
}

template <class S> void write_vector(const typename S::Vec& x, u32 dim) {
  std::vector<R> whole(S::SIZE);
  S::store(whole.data(), x);
  for (u32 i = dim; i < S::SIZE; ++i) {
    if (whole[i] != (R)0) fail("the padding of a vector is not zero");
  }
  write(whole.data(), dim);
}

template <class S> void evaluate(Reader& in, const Job<S>& job) {
  const HierarchicalNormal<S> density = {job.data};
  const u32 dim = density.dim();
  const std::vector<R> points = in.reals<R>();
  for (size_t at = 0; at < points.size(); at += dim) {
    typename S::Vec gradient;
    write(density.evaluate(job.centering, padded<S>(&points[at], dim), gradient));
    write_vector<S>(gradient, dim);
  }
}

template <class S> void leapfrog(Reader& in, const Job<S>& job) {
  const Space<S, HierarchicalNormal> space = {{job.data}, job.centering, {job.metric}};
  const u32 dim = space.density.dim();
  const T step = in.real();
  const u64 steps = in.integer();
  typename S::Vec x = padded<S>(in.reals<R>().data(), dim);
  typename S::Vec r = padded<S>(in.reals<R>().data(), dim);
  typename S::Vec w;
  space.density.evaluate(space.centering, x, w);
  space.metric.whiten(w);
  for (u64 i = 0; i < steps; ++i) {
    T logp, square;
    const bool valued = space.leapfrog(step, x, w, r, logp, square);
    write((u64)valued);
    if (!valued) break;
    write(logp);
    write(square);
    write_vector<S>(x, dim);
    write_vector<S>(w, dim);
    write_vector<S>(r, dim);
  }
}

/// Chains of a launch and its buffers.
template <class S> struct Chains {
  Launch<R, T> launch;
  u32 dim;
  std::vector<ChainState<T>> states, end_states;
  std::vector<R> workspaces, end_positions;

  Chains(Reader& in, const Job<S>& job) : dim(job.data.groups + 3) {
    launch = {};
    launch.centering = job.centering;
    launch.metric = job.metric;
    launch.seed = in.integer();
    launch.first_chain = (u32)in.integer();
    launch.first_iteration = (u32)in.integer();
    launch.max_depth = (u32)in.integer();
    launch.max_energy_error = in.real();
    launch.target_accept = in.real();
    launch.chains = (u32)in.integer();
    states.resize(launch.chains);
    // What is read before it is written shows.
    workspaces.assign(launch.chains * workspace_vectors(launch.max_depth) * S::SIZE, Constants<R>::nan());
    for (u32 c = 0; c < launch.chains; ++c) {
      const std::vector<R> x = in.reals<R>();
      const std::vector<T> averaging = in.reals<T>();
      ChainState<T>& state = states[c];
      state = {};
      state.averaging = {averaging[0], averaging[1], averaging[2], averaging[3], averaging[4], averaging[5]};
      state.step_size = in.real();
      state.which = c % 2;
      const Space<S, HierarchicalNormal> space = {{job.data}, job.centering, {job.metric}};
      const Workspace<S> work = workspace(c);
      const typename S::Vec start = padded<S>(x.data(), dim);
      typename S::Vec w;
      state.logp = space.density.evaluate(space.centering, start, w);
      space.metric.whiten(w);
      S::store(work.x(state.which), start);
      S::store(work.w(state.which), w);
    }
    launch.states = states.data();
    launch.workspaces = workspaces.data();
  }

  Workspace<S> workspace(u32 chain) {
    return {workspaces.data() + (u64)chain * workspace_vectors(launch.max_depth) * S::SIZE, launch.max_depth};
  }

  /// Buffers for what a launch leaves: nothing is there before.
  void make_ends() {
    end_states.assign(launch.chains, ChainState<T>{});
    end_positions.assign((u64)launch.chains * dim, Constants<R>::nan());
    launch.end_states = end_states.data();
    launch.end_positions = end_positions.data();
  }

  /// Points where the host puts them before a restart, and nothing of them in the workspaces.
  void place() {
    make_ends();
    for (u32 c = 0; c < launch.chains; ++c) {
      const R* x = workspace(c).x(states[c].which);
      std::copy(x, x + dim, &end_positions[(u64)c * dim]);
      states[c].logp = Constants<T>::nan();
    }
    std::fill(workspaces.begin(), workspaces.end(), Constants<R>::nan());
  }

  /// What a launch has left is what it goes on from.
  void check_ends() {
    for (u32 c = 0; c < launch.chains; ++c) {
      if (memcmp(&states[c], &end_states[c], sizeof(ChainState<T>)) != 0) fail("end_states are not the states");
      if (memcmp(workspace(c).x(states[c].which), &end_positions[(u64)c * dim], dim * sizeof(R)) != 0)
        fail("end_positions are not the points");
    }
  }

  void write_states() {
    for (u32 c = 0; c < launch.chains; ++c) {
      const ChainState<T>& state = states[c];
      typename S::Vec x;
      S::load(workspace(c).x(state.which), x);
      write_vector<S>(x, dim);
      write(state.logp);
      write(state.step_size);
      write(&state.averaging.target, 6);
    }
  }
};

/// Whether the launch's iteration belongs to the open window of warm-up.
bool in_window(const Launch<R, T>& launch, u32 iteration) {
  return iteration < launch.tune && iteration >= launch.window_begin && iteration < launch.window_end;
}

/// A row of gradients if it belongs to the window; the others must not be touched.
void write_gradient(const Launch<R, T>& launch, u32 iteration, const R* row, u32 dim) {
  const bool kept = in_window(launch, iteration);
  write((u64)kept);
  if (kept) return write(row, dim);
  for (u32 i = 0; row && i < dim; ++i) {
    if (row[i] == row[i]) fail("a gradient outside of the window was written");
  }
}

template <class S> void run(Reader& in, const Job<S>& job) {
  Chains<S> chains(in, job);
  Launch<R, T>& launch = chains.launch;
  const u32 dim = chains.dim;
  const u64 iterations = in.integer();
  const u64 per_launch = in.integer();
  launch.tune = (u32)in.integer();
  launch.window_begin = (u32)in.integer();
  launch.window_end = (u32)in.integer();
  const u32 first = launch.first_iteration;
  for (u64 done = 0; done < iterations; done += launch.iterations) {
    launch.first_iteration = first + (u32)done;
    launch.iterations = (u32)(iterations - done < per_launch ? iterations - done : per_launch);
    const u64 rows = (u64)launch.chains * launch.iterations;
    bool windowed = false;
    for (u32 i = 0; i < launch.iterations; ++i) windowed = windowed || in_window(launch, launch.first_iteration + i);
    std::vector<R> draws(rows * dim, Constants<R>::nan());
    std::vector<R> gradients(windowed ? rows * dim : 0, Constants<R>::nan());
    std::vector<Record> records(rows);
    launch.draws = draws.data();
    launch.gradients = windowed ? gradients.data() : nullptr;
    launch.records = records.data();
    chains.make_ends();
    if (library) {
      HierarchicalNormalData<R, T> data = job.data;
      void* parameters[] = {&data, &launch};
      launch_fibers<S>("run", launch.chains, parameters);
    } else {
      for (u32 c = 0; c < launch.chains; ++c) run_chain<S, HierarchicalNormal>(job.data, launch, c);
    }
    chains.check_ends();
    for (u64 row = 0; row < rows; ++row) {
      static_assert(sizeof(Record) == 64, "records are written as they are");
      if (fwrite(&records[row], sizeof(Record), 1, stdout) != 1) fail("the answer cannot be written");
      write(&draws[row * dim], dim);
      const u32 iteration = launch.first_iteration + (u32)(row % launch.iterations);
      write_gradient(launch, iteration, windowed ? &gradients[row * dim] : nullptr, dim);
    }
  }
  chains.write_states();
}

/// A restart finds points and states, and no vector anywhere else.
template <class S> void restart(Reader& in, const Job<S>& job) {
  Chains<S> chains(in, job);
  chains.launch.iterations = (u32)in.integer();
  chains.place();
  if (library) {
    HierarchicalNormalData<R, T> data = job.data;
    void* parameters[] = {&data, &chains.launch};
    launch_fibers<S>("restart", chains.launch.chains, parameters);
  } else {
    for (u32 c = 0; c < chains.launch.chains; ++c) restart_chain<S, HierarchicalNormal>(job.data, chains.launch, c);
  }
  chains.write_states();
}

template <int L, int E> void answer(u64 task, u32 groups, Reader& in) {
  using S = Shape<R, T, L, E>;
  const Job<S> job(in, groups);
  switch (task) {
    case EVALUATE: return evaluate<S>(in, job);
    case LEAPFROG: return leapfrog<S>(in, job);
    case RUN: return run<S>(in, job);
    case RESTART: return restart<S>(in, job);
    default: fail("no such task");
  }
}

}  // namespace

int main(int count, char** words) {
  if (count > 1) {
    library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(dlerror());
  }
  Reader in;
  u64 task;
  while (in.more(task)) {
    const u32 groups = (u32)in.integer();
    const u32 dim = groups + 3;
    // The smallest shape that holds it.
    if (dim <= 32) {
      answer<32, 1>(task, groups, in);
    } else if (dim <= 128) {
      answer<32, 4>(task, groups, in);
    } else if (dim <= 256) {
      answer<32, 8>(task, groups, in);
    } else if (dim <= 512) {
      answer<128, 4>(task, groups, in);
    } else if (dim <= 1024) {
      answer<128, 8>(task, groups, in);
    } else {
      fail("no kernel is compiled for this number of coordinates");
    }
    if (fflush(stdout)) fail("the answer cannot be written");
  }
  return 0;
}
