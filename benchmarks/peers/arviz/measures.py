"""ArviZ's statistics of draws, chains x draws x parameters, in the form in which Octopus is held to them."""

import warnings

import arviz as az
import numpy as np

warnings.filterwarnings("ignore")

COLUMNS = ("mean", "sd", "hdi_5.5%", "hdi_94.5%", "mcse_mean", "mcse_sd", "ess_bulk", "ess_tail", "r_hat")


def summary(draws):
    """A function that summarises the draws: a row of COLUMNS for each parameter."""
    data = az.convert_to_dataset({"x": draws})
    return lambda: az.summary(data, hdi_prob=0.89, round_to="none")[list(COLUMNS)].to_numpy()


def predictive(draws, criterion):
    """A function that computes the criterion, its standard error and the effective number of parameters."""
    data = az.from_dict(posterior={"x": draws}, log_likelihood={"y": -1.0 - 0.1 * draws**2})

    def run():
        found = criterion(data, pointwise=True)
        return np.array([[found.iloc[0], found["se"], found.iloc[2]]])

    return run


OPERATIONS = {
    "summary": summary,
    "loo": lambda draws: predictive(draws, az.loo),
    "waic": lambda draws: predictive(draws, az.waic),
}
