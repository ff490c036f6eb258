// What stan.py asks of a model: the gradient alone, so that the compiler makes nothing else of Stan's templates.

#ifndef STAN_GRADIENT_HPP
#define STAN_GRADIENT_HPP

#include <stan/model/model_header.hpp>

namespace stan {
namespace model {

class gradient_model : public prob_grad {
 public:
  explicit gradient_model(size_t dim) : prob_grad(dim) {}
  virtual ~gradient_model() {}
  // The log density as it is sampled: constants dropped, Jacobians included.
  virtual math::var log_density(Eigen::Matrix<math::var, -1, 1>& x, std::ostream* messages) const = 0;
};

// Takes the place of Stan's model_base_crtp.
template <class M>
class gradient_model_of : public gradient_model {
 public:
  explicit gradient_model_of(size_t dim) : gradient_model(dim) {}
  math::var log_density(Eigen::Matrix<math::var, -1, 1>& x, std::ostream* messages) const override {
    return static_cast<const M*>(this)->template log_prob<true, true>(x, messages);
  }
};

}  // namespace model
}  // namespace stan

stan::model::gradient_model& new_gradient_model(stan::io::var_context& data, std::ostream* messages);

#endif
