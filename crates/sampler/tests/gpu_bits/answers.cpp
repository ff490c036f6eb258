// The kernels of kernels/nuts compiled for the host, their lanes being arrays: reads jobs from standard input and writes
// what they give to standard output, both as little-endian words of 8 bytes in the order of harness.rs.
//
// With the software GPU's library of kernels as its argument, runs and restarts are launched there: the entries of
// nuts.cu as a GPU gets them, each lane a fiber of its own.
#define OCTOPUS_HOST_LANES
#include "chain.cuh"
#include "hierarchical_normal.cuh"
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <vector>

using namespace octopus;
using namespace octopus::nuts;

namespace {

enum Task : u64 { EVALUATE, LEAPFROG, RUN, RESTART };

[[noreturn]] void fail(const char* why) {
  fprintf(stderr, "%s\n", why);
  exit(2);
}

/// The software GPU's kernels, if they are asked for.
void* library = nullptr;

/// Launches nuts_<what>_hierarchical_normal_f64_<L>x<E> for all chains, in blocks of 128 threads.
template <class S> void launch_fibers(const char* what, u32 chains, void** parameters) {
  using Entry = int (*)(void**, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, size_t, char*, size_t);
  const std::string name = std::string("octopus_launch_nuts_") + what + "_hierarchical_normal_f64_" +
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
  double real() { return from_bits(integer()); }
  std::vector<double> reals() {
    std::vector<double> out(integer());
    if (fread(out.data(), 8, out.size(), stdin) != out.size()) fail("the job ends too early");
    return out;
  }
};

void write(const double* values, size_t n) {
  if (fwrite(values, 8, n, stdout) != n) fail("the answer cannot be written");
}
void write(double value) { write(&value, 1); }
void write(u64 value) { write(from_bits(value)); }

/// What all tasks need.
struct Job {
  std::vector<double> count, mean, transposed, lambda, scale, directions, stretch;
  std::vector<u32> starts;
  HierarchicalNormalData<double> data;
  Centering<double> centering;
  MetricData<double> metric;

  explicit Job(Reader& in) {
    data.groups = (u32)in.integer();
    data.pointwise = (u32)in.integer();
    data.mu_mean = in.real();
    data.mu_sd = in.real();
    data.sigma_pop_scale = in.real();
    data.sigma_obs_scale = in.real();
    data.within = in.real();
    data.total = in.real();
    data.count = (count = in.reals()).data();
    data.mean = (mean = in.reals()).data();
    data.transposed = (transposed = in.reals()).data();
    starts.resize(in.integer());
    for (u32& start : starts) start = (u32)in.integer();
    data.starts = starts.data();
    centering.lambda = (lambda = in.reals()).data();
    centering.total = in.real();
    centering.uniform = in.real();
    centering.is_uniform = (u32)in.integer();
    centering.natural = (u32)in.integer();
    metric.scale = (scale = in.reals()).data();
    metric.rank = (u32)in.integer();
    metric.directions = (directions = in.reals()).data();
    metric.stretch = (stretch = in.reals()).data();
  }
};

template <class S> typename S::Vec padded(const double* x, u32 dim) {
  std::vector<double> whole(S::SIZE, 0.0);
  for (u32 i = 0; i < dim; ++i) whole[i] = x[i];
  typename S::Vec out;
  S::load(whole.data(), out);
  return out;
}

template <class S> void write_vector(const typename S::Vec& x, u32 dim) {
  std::vector<double> whole(S::SIZE);
  S::store(whole.data(), x);
  for (u32 i = dim; i < S::SIZE; ++i) {
    if (whole[i] != 0.0) fail("the padding of a vector is not zero");
  }
  write(whole.data(), dim);
}

template <class S> void evaluate(Reader& in, const Job& job) {
  const HierarchicalNormal<S> density = {job.data};
  const u32 dim = density.dim();
  const std::vector<double> points = in.reals();
  for (size_t at = 0; at < points.size(); at += dim) {
    typename S::Vec gradient;
    write(density.evaluate(job.centering, padded<S>(&points[at], dim), gradient));
    write_vector<S>(gradient, dim);
  }
}

template <class S> void leapfrog(Reader& in, const Job& job) {
  const Space<S, HierarchicalNormal> space = {{job.data}, job.centering, {job.metric}};
  const u32 dim = space.density.dim();
  const double step = in.real();
  const u64 steps = in.integer();
  typename S::Vec x = padded<S>(in.reals().data(), dim);
  typename S::Vec r = padded<S>(in.reals().data(), dim);
  typename S::Vec w;
  space.density.evaluate(space.centering, x, w);
  space.metric.whiten(w);
  for (u64 i = 0; i < steps; ++i) {
    double logp, square;
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
  Launch<double> launch;
  u32 dim;
  std::vector<ChainState<double>> states;
  std::vector<double> workspaces;

  Chains(Reader& in, const Job& job) : dim(job.data.groups + 3) {
    launch = {};
    launch.centering = job.centering;
    launch.metric = job.metric;
    launch.seed = in.integer();
    launch.first_chain = (u32)in.integer();
    launch.first_iteration = (u32)in.integer();
    launch.limits.max_depth = (u32)in.integer();
    launch.limits.max_energy_error = in.real();
    launch.chains = (u32)in.integer();
    const u64 vectors = workspace_vectors(launch.limits.max_depth);
    states.resize(launch.chains);
    // What is read before it is written shows.
    workspaces.assign(launch.chains * vectors * S::SIZE, Constants<double>::nan());
    for (u32 c = 0; c < launch.chains; ++c) {
      const std::vector<double> x = in.reals();
      const std::vector<double> averaging = in.reals();
      ChainState<double>& state = states[c];
      state.averaging = {averaging[0], averaging[1], averaging[2], averaging[3], averaging[4], averaging[5]};
      state.step_size = in.real();
      state.which = c % 2;
      const Space<S, HierarchicalNormal> space = {{job.data}, job.centering, {job.metric}};
      const Workspace<S> work = {workspaces.data() + c * vectors * S::SIZE, launch.limits.max_depth};
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

  void write_states() {
    const u64 vectors = workspace_vectors(launch.limits.max_depth);
    for (u32 c = 0; c < launch.chains; ++c) {
      const ChainState<double>& state = states[c];
      const Workspace<S> work = {workspaces.data() + c * vectors * S::SIZE, launch.limits.max_depth};
      typename S::Vec x;
      S::load(work.x(state.which), x);
      write_vector<S>(x, dim);
      write(state.logp);
      write(state.step_size);
      write(&state.averaging.target, 6);
    }
  }
};

template <class S> void run(Reader& in, const Job& job) {
  Chains<S> chains(in, job);
  Launch<double>& launch = chains.launch;
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
    std::vector<double> draws(rows * chains.dim), gradients(rows * chains.dim);
    std::vector<Record> records(rows);
    launch.draws = draws.data();
    launch.gradients = gradients.data();
    launch.records = records.data();
    if (library) {
      HierarchicalNormalData<double> data = job.data;
      void* parameters[] = {&data, &launch};
      launch_fibers<S>("run", launch.chains, parameters);
    } else {
      for (u32 c = 0; c < launch.chains; ++c) run_chain<S, HierarchicalNormal>(job.data, launch, c);
    }
    for (u64 row = 0; row < rows; ++row) {
      static_assert(sizeof(Record) == 64, "records are written as they are");
      if (fwrite(&records[row], sizeof(Record), 1, stdout) != 1) fail("the answer cannot be written");
      write(&draws[row * chains.dim], chains.dim);
      write(&gradients[row * chains.dim], chains.dim);
    }
  }
  chains.write_states();
}

template <class S> void restart(Reader& in, const Job& job) {
  Chains<S> chains(in, job);
  double target = in.real();
  if (library) {
    HierarchicalNormalData<double> data = job.data;
    void* parameters[] = {&data, &chains.launch, &target};
    launch_fibers<S>("restart", chains.launch.chains, parameters);
  } else {
    for (u32 c = 0; c < chains.launch.chains; ++c)
      restart_chain<S, HierarchicalNormal>(job.data, chains.launch, target, c);
  }
  chains.write_states();
}

template <int L, int E> void answer(u64 task, Reader& in, const Job& job) {
  using S = Shape<double, L, E>;
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
    const Job job(in);
    const u32 dim = job.data.groups + 3;
    const u32 wide = dim <= 256 ? 32 : 128;
    const u32 rows = (dim + wide - 1) / wide;
    switch (wide * 100 + rows) {
      case 3201: answer<32, 1>(task, in, job); break;
      case 3204: answer<32, 4>(task, in, job); break;
      case 3208: answer<32, 8>(task, in, job); break;
      case 12803: answer<128, 3>(task, in, job); break;
      case 12804: answer<128, 4>(task, in, job); break;
      case 12808: answer<128, 8>(task, in, job); break;
      default: fail("no kernel is compiled for this number of coordinates");
    }
    if (fflush(stdout)) fail("the answer cannot be written");
  }
  return 0;
}
