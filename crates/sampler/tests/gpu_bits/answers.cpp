// The kernels of kernels/nuts compiled for the host, their lanes being arrays: reads jobs from standard input and writes
// what they give to standard output, both as little-endian words of 8 bytes in the order of harness.rs.
//
// One program for each density and precision: OCTOPUS_DENSITY is the density's struct, of the header
// OCTOPUS_DENSITY_HEADER and called OCTOPUS_DENSITY_NAME in entries; OCTOPUS_R and OCTOPUS_T are the types of vectors and
// of scalars, OCTOPUS_PRECISION the name. Numbers of jobs and answers are f64 always, rounded to the types here.
// NUTS itself takes the compiler half a minute: OCTOPUS_WITHOUT_NUTS leaves out all that moves a chain, and
// OCTOPUS_ONE_ROW all shapes but the smallest.
//
// With the software GPU's library of kernels as its argument, all but single evaluations and steps are launched there:
// the entries of the sampler's units as a GPU gets them, each lane a fiber of its own.
#define OCTOPUS_HOST_LANES
#include "chain.cuh"
#include OCTOPUS_DENSITY_HEADER
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <utility>
#include <vector>

using namespace octopus;
using namespace octopus::nuts;

namespace {

using R = OCTOPUS_R;
using T = OCTOPUS_T;
template <class S> using Density = OCTOPUS_DENSITY<S>;

enum Task : u64 { EVALUATE, LEAPFROG, RUN, RESTART };

[[noreturn]] void fail(const char* why) {
  fprintf(stderr, "%s\n", why);
  exit(2);
}

/// The software GPU's kernels, if they are asked for.
void* library = nullptr;

/// Launches nuts_<what>_<density>_<precision>_<L>x<E> of the library for all chains, in blocks of 128 threads.
template <class S> void launch_chains(const char* what, u32 chains, void** parameters) {
  using Entry = int (*)(void**, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, size_t, char*, size_t);
  const std::string name = std::string("octopus_launch_nuts_") + what + "_" OCTOPUS_DENSITY_NAME "_" OCTOPUS_PRECISION "_" +
                           std::to_string(S::L) + "x" + std::to_string(S::E);
  const u32 blocks = (chains * S::L + 127) / 128;
  const Entry entry = reinterpret_cast<Entry>(dlsym(library, name.c_str()));
  if (!entry) fail((name + " is not there").c_str());
  char message[1000] = "";
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

/// A struct of a density's data, packed field by field as C lays it out: what the engine does for the device.
template <class S, class Data> struct Fields {
  Data data;
  std::vector<std::vector<R>> reals;
  std::vector<std::vector<u32>> words;

  explicit Fields(Reader& in) {
    for (u64 left = in.integer(); left > 0; --left) {
      switch (in.integer()) {
        case 0: put((u32)in.integer()); break;
        case 1: put(in.real()); break;
        case 2: put_array(reals, in.padded<S>()); break;
        case 3: put_array(reals, in.reals<R>()); break;
        case 4: {
          std::vector<u32> array(in.integer());
          for (u32& word : array) word = (u32)in.integer();
          put_array(words, std::move(array));
          break;
        }
        default: fail("no such field");
      }
    }
    if ((size + alignof(Data) - 1) / alignof(Data) * alignof(Data) != sizeof(Data)) fail("fields are missing");
  }

 private:
  size_t size = 0;

  template <class X> void put(X value) {
    size = (size + alignof(X) - 1) / alignof(X) * alignof(X);
    if (size + sizeof(X) > sizeof(Data)) fail("more fields than the struct has");
    memcpy(reinterpret_cast<char*>(&data) + size, &value, sizeof(X));
    size += sizeof(X);
  }
  template <class X> void put_array(std::vector<std::vector<X>>& arrays, std::vector<X> array) {
    // Moving a vector of vectors leaves where their elements are.
    arrays.push_back(std::move(array));
    put((const X*)arrays.back().data());
  }
};

/// What all tasks need.
template <class S> struct Job {
  Fields<S, typename Density<S>::Data> fields;
  const typename Density<S>::Data& data = fields.data;
  std::vector<R> scale, directions;
  std::vector<T> stretch;
  Centering<T> centering;
  MetricData<R, T> metric;

  Job(Reader& in, u32 dim) : fields(in) {
    if (Density<S>{data}.dim() != dim) fail("the density has another number of coordinates");
    // 0: non-centered, 1: centered, 2: standardised.
    const u64 mode = in.integer();
    centering.lambda = (T)(mode == 1);
    centering.total = centering.lambda * (T)Density<S>{data}.effects();
    centering.standardised = mode == 2;
    centering.natural = mode == 0;
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

/// Writes a vector whose padding, if it `means` something, must be zero.
template <class S> void write_vector(const typename S::Vec& x, u32 dim, bool means = true) {
  std::vector<R> whole(S::SIZE);
  S::store(whole.data(), x);
  for (u32 i = dim; i < S::SIZE; ++i) {
    if (means && whole[i] != (R)0) fail("the padding of a vector is not zero");
  }
  write(whole.data(), dim);
}

template <class S> void evaluate(Reader& in, const Job<S>& job) {
  const Density<S> density = {job.data};
  const u32 dim = density.dim();
  const std::vector<R> points = in.reals<R>();
  for (size_t at = 0; at < points.size(); at += dim) {
    typename S::Vec gradient;
    const T value = density.evaluate(job.centering, padded<S>(&points[at], dim), gradient);
    write(value);
    // Where there is no value the gradient means nothing, in its padding too.
    write_vector<S>(gradient, dim, is_finite(value));
  }
}

#if !defined(OCTOPUS_WITHOUT_NUTS)

template <class S> void leapfrog(Reader& in, const Job<S>& job) {
  const Space<S, Density> space = {{job.data}, job.centering, {job.metric}};
  const u32 dim = space.density.dim();
  const T step = in.real();
  const u64 steps = in.integer();
  typename S::Vec x = padded<S>(in.reals<R>().data(), dim);
  typename S::Vec r = padded<S>(in.reals<R>().data(), dim);
  typename S::Vec w;
  space.density.evaluate(space.centering, x, w);
  space.metric.whiten(w);
  for (u64 i = 0; i < steps; ++i) {
    T logp;
    const bool valued = space.leapfrog(step, x, w, r, logp);
    const T square = Transition<S, Density>::dot(r, r);
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

  Chains(Reader& in, const Job<S>& job) : dim(Density<S>{job.data}.dim()) {
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
      const Space<S, Density> space = {{job.data}, job.centering, {job.metric}};
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

/// A point and the gradient there if it belongs to the window; the others must not be touched.
void write_point(const Launch<R, T>& launch, u32 iteration, const R* row, u32 dim) {
  const bool kept = in_window(launch, iteration);
  write((u64)kept);
  if (kept) return write(row, 2 * dim);
  for (u32 i = 0; row && i < 2 * dim; ++i) {
    if (row[i] == row[i]) fail("a point outside of the window was written");
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
    std::vector<R> points(windowed ? rows * 2 * dim : 0, Constants<R>::nan());
    std::vector<Record> records(rows);
    launch.draws = draws.data();
    launch.points = windowed ? points.data() : nullptr;
    launch.records = records.data();
    chains.make_ends();
    if (library) {
      typename Density<S>::Data data = job.data;
      void* parameters[] = {&data, &launch};
      launch_chains<S>("run", launch.chains, parameters);
    } else {
      for (u32 c = 0; c < launch.chains; ++c) run_chain<S, Density>(job.data, launch, c);
    }
    chains.check_ends();
    for (u64 row = 0; row < rows; ++row) {
      static_assert(sizeof(Record) == 64, "records are written as they are");
      if (fwrite(&records[row], sizeof(Record), 1, stdout) != 1) fail("the answer cannot be written");
      write(&draws[row * dim], dim);
      const u32 iteration = launch.first_iteration + (u32)(row % launch.iterations);
      write_point(launch, iteration, windowed ? &points[row * 2 * dim] : nullptr, dim);
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
    typename Density<S>::Data data = job.data;
    void* parameters[] = {&data, &chains.launch};
    launch_chains<S>("restart", chains.launch.chains, parameters);
  } else {
    for (u32 c = 0; c < chains.launch.chains; ++c) restart_chain<S, Density>(job.data, chains.launch, c);
  }
  chains.write_states();
}

#endif

template <int L, int E> void answer(u64 task, u32 dim, Reader& in) {
  using S = Shape<R, T, L, E>;
  const Job<S> job(in, dim);
  switch (task) {
    case EVALUATE: return evaluate<S>(in, job);
#if !defined(OCTOPUS_WITHOUT_NUTS)
    case LEAPFROG: return leapfrog<S>(in, job);
    case RUN: return run<S>(in, job);
    case RESTART: return restart<S>(in, job);
#endif
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
    const u32 dim = (u32)in.integer();
    // The smallest shape that holds it.
    if (dim <= 32) {
      answer<32, 1>(task, dim, in);
#if !defined(OCTOPUS_ONE_ROW)
    } else if (dim <= 128) {
      answer<32, 4>(task, dim, in);
    } else if (dim <= 256) {
      answer<32, 8>(task, dim, in);
    } else if (dim <= 512) {
      answer<128, 4>(task, dim, in);
    } else if (dim <= 1024) {
      answer<128, 8>(task, dim, in);
#endif
    } else {
      fail("no kernel is compiled for this number of coordinates");
    }
    if (fflush(stdout)) fail("the answer cannot be written");
  }
  return 0;
}
