// Stan's own log density and gradient of one model, for stan.py.
//
//     MODEL data.json
//
// Standard input has one request a line, standard output one answer a line. Numbers are written with 17 digits.
//
// | request | answer |
// |--|--|
// | (none, first line) | dim N |
// | point x1 ... xN | value lp g1 ... gN, or error message |
// | time seconds | time least median (ns a gradient, at the last point) |
//
// The log density is what Stan samples: constants dropped, Jacobians included.

#include "stan_gradient.hpp"
#include <stan/io/json/json_data.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

// As Stan's samplers do it.
static double gradient_of(const stan::model::gradient_model& model, const Eigen::VectorXd& x,
                          Eigen::VectorXd& gradient, std::ostream* messages) {
  double value = 0;
  stan::math::gradient([&](auto& theta) { return model.log_density(theta, messages); }, x, value, gradient);
  return value;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: MODEL data.json\n";
    return 2;
  }
  std::ifstream in(argv[1]);
  stan::json::json_data data(in);
  const stan::model::gradient_model& model = new_gradient_model(data, &std::cerr);
  const Eigen::Index dim = model.num_params_r();
  Eigen::VectorXd x = Eigen::VectorXd::Zero(dim), gradient = Eigen::VectorXd::Zero(dim);
  std::printf("dim %ld\n", static_cast<long>(dim));
  std::fflush(stdout);
  std::string line, word;
  while (std::getline(std::cin, line)) {
    std::istringstream request(line);
    request >> word;
    if (word == "point") {
      for (Eigen::Index k = 0; k < dim; ++k) {
        request >> word;
        x[k] = std::strtod(word.c_str(), nullptr);
      }
      std::ostringstream messages;
      try {
        const double value = gradient_of(model, x, gradient, &messages);
        std::printf("value %.17g", value);
        for (Eigen::Index k = 0; k < dim; ++k) std::printf(" %.17g", gradient[k]);
        std::printf("\n");
      } catch (const std::exception& error) {
        std::string text = error.what();
        std::replace(text.begin(), text.end(), '\n', ' ');
        std::printf("error %s\n", text.c_str());
      }
    } else if (word == "time") {
      double seconds = 0;
      request >> seconds;
      using clock = std::chrono::steady_clock;
      const auto since = [](clock::time_point from) { return std::chrono::duration<double>(clock::now() - from).count(); };
      std::vector<double> each;
      // As many gradients in one reading of the clock as take about 50 us, or one.
      std::size_t batch = 1;
      const auto start = clock::now();
      try {
        while (since(start) < seconds || each.size() < 3) {
          const auto from = clock::now();
          for (std::size_t k = 0; k < batch; ++k) gradient_of(model, x, gradient, nullptr);
          const double took = since(from);
          each.push_back(took / batch);
          if (took < 5e-5) {
            batch *= 2;
            each.clear();
          }
        }
        std::sort(each.begin(), each.end());
        std::printf("time %.2f %.2f\n", each.front() * 1e9, each[each.size() / 2] * 1e9);
      } catch (const std::exception& error) {
        std::printf("error %s\n", error.what());
      }
    }
    std::fflush(stdout);
  }
}
