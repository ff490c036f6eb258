// Stan's NUTS and static HMC of one model, as CmdStan calls them, for adapter.py.
//
//     MODEL data.json
//
// Standard input has one request a line, standard output one answer a line.
//
// | request | answer |
// |--|--|
// | point x1 ... xN | value lp (constants and Jacobians in) |
// | nuts SEED CHAINS PROCESSES TUNE DRAWS TARGET_ACCEPT | seconds S, the most KiB of a process of chains |
// | hmc SEED CHAINS PROCESSES TUNE DRAWS STEP LEAPFROGS | the same |
// | draws FILE | divergences D (of NUTS); the file has chains x draws x parameters in f64 |
//
// Chains are processes, as many at a time as are asked for, and in this process if that is one: so Stan's memory of
// gradients needs no threads. Draws are kept in memory that all share.

#include "sample.hpp"
#include <stan/io/empty_var_context.hpp>
#include <stan/io/json/json_data.hpp>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

// Keeps the parameters of each draw, and whether it diverged.
class Rows : public stan::callbacks::writer {
 public:
  Rows(double* to, std::size_t params) : to_(to), params_(params) {}
  using stan::callbacks::writer::operator();
  void operator()(const std::vector<std::string>& names) override {
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (names[k] == "divergent__") divergent_ = k;
      // Stan's own come first, and end so.
      if (names[k].size() > 2 && names[k].compare(names[k].size() - 2, 2, "__") == 0) first_ = k + 1;
    }
  }
  void operator()(const std::vector<double>& row) override {
    *to_++ = divergent_ == none ? 0 : row[divergent_];
    std::copy(row.begin() + first_, row.begin() + first_ + params_, to_);
    to_ += params_;
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  double* to_;
  std::size_t params_, first_ = 0, divergent_ = none;
};

struct Run {
  std::string method;
  unsigned int seed = 0, chains = 0, processes = 0;
  int tune = 0, draws = 0;
  double target_accept = 0, step = 0;
  int leapfrogs = 0;
};

static int chain_of(stan::model::model_base& model, const Run& run, unsigned int chain, double* to, std::size_t params) {
  stan::io::empty_var_context none;
  stan::callbacks::interrupt interrupt;
  stan::callbacks::logger logger;
  stan::callbacks::writer ignored;
  Rows rows(to, params);
  // CmdStan's defaults.
  if (run.method == "nuts")
    return stan::services::sample::hmc_nuts_diag_e_adapt(model, none, run.seed, chain, 2, run.tune, run.draws, 1, false, 0,
                                                         1, 0, 10, run.target_accept, 0.05, 0.75, 10, 75, 50, 25, interrupt,
                                                         logger, ignored, rows, ignored);
  return stan::services::sample::hmc_static_unit_e(model, none, run.seed, chain, 2, run.tune, run.draws, 1, false, 0,
                                                   run.step, 0, run.step * (run.leapfrogs + 0.5), interrupt, logger, ignored,
                                                   rows, ignored);
}

// Whether all chains ended well.
static bool chains_of(stan::model::model_base& model, const Run& run, double* to, std::size_t params) {
  const std::size_t length = run.draws * (params + 1);
  bool well = true;
  if (run.processes <= 1) {
    for (unsigned int k = 0; k < run.chains; ++k) well &= chain_of(model, run, k + 1, to + k * length, params) == 0;
    return well;
  }
  unsigned int running = 0;
  const auto wait_for_one = [&] {
    int status = 0;
    well &= ::wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    --running;
  };
  for (unsigned int k = 0; k < run.chains; ++k) {
    if (running == run.processes) wait_for_one();
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(chain_of(model, run, k + 1, to + k * length, params));
    if (pid < 0) return false;
    ++running;
  }
  while (running > 0) wait_for_one();
  return well;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: MODEL data.json\n";
    return 2;
  }
  std::ifstream in(argv[1]);
  stan::json::json_data data(in);
  stan::model::model_base& model = new_model(data, 0, &std::cerr);
  std::vector<std::string> names;
  model.constrained_param_names(names, false, false);
  const std::size_t params = names.size();
  Run run;
  double* kept = nullptr;
  std::size_t bytes = 0;
  std::string line, word;
  while (std::getline(std::cin, line)) {
    std::istringstream request(line);
    request >> word;
    if (word == "point") {
      Eigen::VectorXd x(model.num_params_r());
      for (auto& value : x) {
        request >> word;
        value = std::strtod(word.c_str(), nullptr);
      }
      std::printf("value %.17g\n", model.log_prob_jacobian(x, &std::cerr));
    } else if (word == "draws") {
      request >> word;
      std::ofstream out(word, std::ios::binary);
      double divergences = 0;
      for (std::size_t k = 0; k < std::size_t(run.chains) * run.draws; ++k) {
        const double* row = kept + k * (params + 1);
        divergences += row[0];
        out.write(reinterpret_cast<const char*>(row + 1), params * sizeof(double));
      }
      std::printf("divergences %.0f\n", divergences);
    } else {
      run.method = word;
      request >> run.seed >> run.chains >> run.processes >> run.tune >> run.draws;
      if (run.method == "nuts") request >> run.target_accept;
      else request >> run.step >> run.leapfrogs;
      if (kept != nullptr) ::munmap(kept, bytes);
      bytes = sizeof(double) * run.chains * run.draws * (params + 1);
      void* made = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      if (made == MAP_FAILED) {
        std::cerr << "no memory for the draws\n";
        return 1;
      }
      kept = static_cast<double*>(made);
      const auto began = std::chrono::steady_clock::now();
      const bool well = chains_of(model, run, kept, params);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
      struct rusage forked {};
      ::getrusage(RUSAGE_CHILDREN, &forked);
      if (well) std::printf("seconds %.9f %ld\n", took.count(), forked.ru_maxrss);
      else std::printf("error a chain failed\n");
    }
    std::fflush(stdout);
  }
}
