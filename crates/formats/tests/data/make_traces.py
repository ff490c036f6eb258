"""Small traces written by PyMC, nutpie and NumPyro, and what Python sees in them, for `tests/others.rs`.

    pip install pymc==5.28.5 nutpie==0.16.8 numpyro==0.22.0 arviz==0.23.4 zarr==3.1.6 h5netcdf netCDF4
    python make_traces.py

Beside each trace lies `<name>.json`: groups, dims, coordinates, and the values of each variable as text that
keeps every bit.
"""

import json
import os
import shutil
import warnings

warnings.simplefilter("ignore")

import arviz
import numpy as np
import xarray
from pack import pack

HERE = os.path.dirname(os.path.abspath(__file__))


def describe(groups):
    described = {}
    for group, dataset in groups.items():
        variables = {}
        for name, array in dataset.data_vars.items():
            values = [repr(value) if isinstance(value, float) else str(value) for value in array.values.ravel().tolist()]
            variables[name] = {"dims": list(array.dims), "shape": list(array.shape), "values": values}
        # Coordinates along a dimension of their own; others are variables to Octopus.
        coords = {name: [str(label) for label in labels.values.tolist()] for name, labels in dataset.coords.items() if labels.dims == (name,)}
        attrs = {key: value for key, value in dataset.attrs.items() if isinstance(value, str)}
        described[group] = {"variables": variables, "coords": coords, "attrs": attrs}
    return described


def keep(path, groups):
    with open(os.path.splitext(path)[0] + ".json", "w", encoding="utf-8") as file:
        json.dump(describe(groups), file, ensure_ascii=False)
        file.write("\n")


def groups_of(data):
    return {group: data[group] for group in data.groups()}


def fresh(folder, name):
    path = os.path.join(HERE, folder, name)
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)
    return path


def small(data):
    """Files below 100 kB (HDF5 takes some kB for each variable) that say nothing of the machine and the time."""
    kept = {"diverging", "energy", "lp", "depth", "tree_depth", "n_steps"}
    groups = {}
    for group in data.groups():
        dataset = data[group]
        if group == "warmup_sample_stats" or group == "unconstrained_posterior" or group == "warmup_unconstrained_posterior":
            continue
        if group == "sample_stats":
            dataset = dataset[[name for name in dataset.data_vars if name in kept]]
        for key in ["created_at", "sampling_time", "tuning_steps"]:
            dataset.attrs.pop(key, None)
        groups[group] = dataset
    return arviz.InferenceData(**groups)


def pymc_model():
    import pymc

    y = np.array([2.8, 0.8, -0.3, 0.7])
    with pymc.Model(coords={"school": ["Choate", "Deerfield", "Phillips", "Ändover"]}) as model:
        mu = pymc.Normal("mu", 0, 5)
        tau = pymc.HalfNormal("tau", 5)
        theta = pymc.Normal("theta", mu, tau, dims="school")
        pymc.Normal("y", theta, 1.0, observed=y, dims="school")
    return pymc, model


def write_pymc():
    pymc, model = pymc_model()
    with model:
        data = pymc.sample(6, tune=30, chains=2, cores=1, random_seed=1, progressbar=False, discard_tuned_samples=False,
                           idata_kwargs={"log_likelihood": True}, compute_convergence_checks=False)
        data.extend(pymc.sample_prior_predictive(5, random_seed=1))
        data.extend(pymc.sample_posterior_predictive(data, random_seed=1, progressbar=False))
    path = fresh("pymc", "schools.nc")
    small(data).to_netcdf(path, engine="netcdf4", compress=False)
    keep(path, groups_of(arviz.from_netcdf(path)))


def write_nutpie():
    import nutpie

    _, model = pymc_model()
    compiled = nutpie.compile_pymc_model(model)
    options = dict(draws=6, tune=30, chains=2, cores=1, seed=2, progress_bar=False, save_warmup=True, store_divergences=True)
    data = nutpie.sample(compiled, **options)
    data = data if isinstance(data, arviz.InferenceData) else arviz.InferenceData(**{name: node.to_dataset() for name, node in data.children.items()})
    path = fresh("nutpie", "schools.nc")
    small(data).to_netcdf(path)
    keep(path, groups_of(arviz.from_netcdf(path)))
    path = fresh("nutpie", "schools.zarr")
    os.makedirs(path)
    store = nutpie.zarr_store.LocalStore(path)
    nutpie.sample(compiled, **options, zarr_store=store)
    tree = xarray.open_datatree(path, engine="zarr", consolidated=False).load()
    pack(path)
    keep(fresh("nutpie", "schools_zarr"), {name: node.to_dataset() for name, node in tree.children.items()})


def write_numpyro():
    import jax
    import numpyro
    import numpyro.distributions as dist

    numpyro.set_host_device_count(2)

    def model(y=None):
        mu = numpyro.sample("mu", dist.Normal(0, 5))
        tau = numpyro.sample("tau", dist.HalfNormal(5))
        with numpyro.plate("schools", 4):
            theta = numpyro.sample("theta", dist.Normal(mu, tau))
            numpyro.sample("y", dist.Normal(theta, 1.0), obs=y)

    y = np.array([2.8, 0.8, -0.3, 0.7])
    mcmc = numpyro.infer.MCMC(numpyro.infer.NUTS(model), num_warmup=30, num_samples=6, num_chains=2, chain_method="sequential", progress_bar=False)
    mcmc.run(jax.random.PRNGKey(3), y=y, extra_fields=("potential_energy", "energy", "num_steps", "accept_prob", "diverging", "adapt_state.step_size"))
    prior = numpyro.infer.Predictive(model, num_samples=5)(jax.random.PRNGKey(4))
    data = arviz.from_numpyro(mcmc, prior=prior, coords={"school": [1, 2, 4, 8]}, dims={"theta": ["school"], "y": ["school"]})
    data = small(data)
    path = fresh("numpyro", "schools.nc")
    data.to_netcdf(path, compress=False)
    keep(path, groups_of(arviz.from_netcdf(path)))
    path = fresh("numpyro", "schools.zarr")
    # Version 3 by zarr-python, in its own default encoding.
    xarray.DataTree.from_dict({group: data[group] for group in data.groups()}).to_zarr(path, zarr_format=3)
    tree = xarray.open_datatree(path, engine="zarr").load()
    pack(path)
    keep(fresh("numpyro", "schools_zarr"), {name: node.to_dataset() for name, node in tree.children.items()})


if __name__ == "__main__":
    import sys

    for program in sys.argv[1:] or ["pymc", "nutpie", "numpyro"]:
        {"pymc": write_pymc, "nutpie": write_nutpie, "numpyro": write_numpyro}[program]()
