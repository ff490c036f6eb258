// What sample.cpp and the models include: compiled once, before both.

#ifndef STAN_SAMPLE_HPP
#define STAN_SAMPLE_HPP

#include <stan/model/model_header.hpp>
#include <stan/services/sample/hmc_nuts_diag_e_adapt.hpp>
#include <stan/services/sample/hmc_static_unit_e.hpp>

// stanc writes it.
stan::model::model_base& new_model(stan::io::var_context& data, unsigned int seed, std::ostream* messages);

#endif
