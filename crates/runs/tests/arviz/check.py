"""Opens Octopus' files with ArviZ, and writes files with ArviZ for Octopus to read.

    python -m venv /tmp/arviz && /tmp/arviz/bin/pip install -r requirements.txt
    OCTOPUS_PYTHON=/tmp/arviz/bin/python cargo test --release -p octopus-runs --test arviz -- --nocapture

The Rust test calls `check.py open DIR` and `check.py write DIR`. Real numbers travel through JSON as text
that keeps every bit.
"""

import json
import os
import sys
import warnings

import numpy as np

with warnings.catch_warnings():
    # ArviZ 0.23 announces ArviZ 1.0 when it is imported.
    warnings.simplefilter("ignore")
    import arviz
    import h5netcdf  # noqa: F401
    import netCDF4  # noqa: F401
    import zarr


def values_of(kind, values, shape):
    dtype = {"f64": float, "i64": int, "bool": bool, "str": str}[kind]
    return np.array([dtype(value) for value in values]).reshape(shape)


def compare(found, expected, where):
    assert sorted(found.groups()) == sorted(expected), f"{where}: groups {found.groups()}"
    for group, wanted in expected.items():
        dataset = found[group]
        place = f"{where}: {group}"
        assert sorted(dataset.data_vars) == sorted(wanted["variables"]), f"{place}: {list(dataset.data_vars)}"
        for name, variable in wanted["variables"].items():
            array = dataset[name]
            assert list(array.dims) == variable["dims"], f"{place}: {name}: dims {array.dims}"
            values = values_of(variable["kind"], variable["values"], variable["shape"])
            kind = {"f64": "f", "i64": "i", "bool": "b", "str": "UOT"}[variable["kind"]]
            assert array.dtype.kind in kind, f"{place}: {name}: type {array.dtype}"
            np.testing.assert_array_equal(array.values, values, err_msg=f"{place}: {name}")
        assert sorted(dataset.coords) == sorted(wanted["coords"]), f"{place}: coords {list(dataset.coords)}"
        for name, labels in wanted["coords"].items():
            assert list(dataset.coords[name].values) == labels, f"{place}: {name}: {dataset.coords[name].values}"
        found_attrs = {key: value.item() if hasattr(value, "item") else value for key, value in dataset.attrs.items()}
        assert found_attrs == wanted["attrs"], f"{place}: attrs {found_attrs}"


def open_ours(folder):
    with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
        expected = json.load(file)
    warnings.simplefilter("error")
    for engine in ["h5netcdf", "netcdf4"]:
        compare(arviz.from_netcdf(os.path.join(folder, "trace.nc"), engine=engine), expected, f"from_netcdf, {engine}")
        print(f"arviz {arviz.__version__}: from_netcdf with {engine}: equal, no warning")
    if int(zarr.__version__.split(".")[0]) < 3:
        compare(arviz.from_zarr(os.path.join(folder, "trace_v2.zarr")), expected, "from_zarr")
        print(f"arviz {arviz.__version__}: from_zarr with zarr {zarr.__version__}: equal, no warning")
    else:
        print(f"SKIPPED: arviz.from_zarr needs zarr 2, not {zarr.__version__}")
    compare_stan(folder, expected)
    print(f"arviz {arviz.__version__}: from_cmdstan: equal, no warning")
    # ArviZ works on it, too.
    summary = arviz.summary(arviz.from_netcdf(os.path.join(folder, "trace.nc")), var_names=["mu", "tau"])
    assert list(summary.index) == ["mu", "tau"]


def compare_stan(folder, expected):
    """What a Stan CSV keeps: posterior, the statistics that CmdStan has, and the same of warm-up."""
    chains = [os.path.join(folder, "stan", f"chain-{chain}.csv") for chain in [1, 2]]
    found = arviz.from_cmdstan(chains, save_warmup=True)
    statistics = ["lp", "acceptance_rate", "step_size", "tree_depth", "n_steps", "diverging", "energy"]
    for prefix in ["", "warmup_"]:
        for group, kept in [("posterior", None), ("sample_stats", statistics)]:
            wanted = {name: variable for name, variable in expected[prefix + group]["variables"].items() if kept is None or name in kept}
            dataset = found[prefix + group]
            assert sorted(dataset.data_vars) == sorted(wanted), f"{prefix}{group}: {list(dataset.data_vars)}"
            for name, variable in wanted.items():
                values = values_of(variable["kind"], variable["values"], variable["shape"])
                np.testing.assert_array_equal(dataset[name].values, values, err_msg=f"from_cmdstan: {prefix}{group}: {name}")
    # ArviZ keeps the comments of each chain as text.
    assert list(found.posterior.attrs["step_size"]) == ["0.1", "0.25"], found.posterior.attrs["step_size"]
    for metric in found.posterior.attrs["inverse_mass_matrix"]:
        assert json.loads(metric) == [0.5, 2.0, 1 / 3, 1e-9], metric
    with open(os.path.join(folder, "stan", "chain-2_metric.json"), encoding="utf-8") as file:
        metric = json.load(file)
    assert metric == {"stepsize": 0.25, "inv_metric": [0.5, 2.0, 1 / 3, 1e-9]}, metric


def describe(data):
    groups = {}
    for group in data.groups():
        dataset = data[group]
        variables = {}
        for name, array in dataset.data_vars.items():
            values = [repr(value) if isinstance(value, float) else str(value) for value in array.values.ravel().tolist()]
            variables[name] = {"dims": list(array.dims), "shape": list(array.shape), "values": values}
        coords = {name: [str(label) for label in labels.values.tolist()] for name, labels in dataset.coords.items()}
        attrs = {key: str(value) for key, value in dataset.attrs.items() if isinstance(value, str)}
        groups[group] = {"variables": variables, "coords": coords, "attrs": attrs}
    return groups


def write_theirs(folder):
    example = os.path.join(os.path.dirname(arviz.__file__), "data", "example_data", "data", "centered_eight.nc")
    centered_eight = arviz.from_netcdf(example)
    random = np.random.default_rng(1)
    posterior = {"x": random.normal(size=(2, 5)), "θ": random.normal(size=(2, 5, 3)).astype("float32")}
    stats = {"diverging": random.random((2, 5)) < 0.5, "depth": random.integers(0, 9, (2, 5)).astype("int32")}
    coords = {"city": ["oslo", "são paulo", "zürich"], "year": [1999, 2001, 1980]}
    dims = {"θ": ["city"], "small": ["year"], "names": ["city"], "wide": ["year"]}
    constant = {
        "small": np.array([-1, 0, 1], dtype="int8"),
        "wide": np.array([0, 2**40, 2**62], dtype="uint64"),
        "names": np.array(["a", "", "ç"]),
        "one": np.array(3.5),
        "count": np.array(7, dtype="int16"),
    }
    mixed = arviz.from_dict(
        posterior=posterior, sample_stats=stats, constant_data=constant, coords=coords, dims=dims, attrs={"note": "naïve"}
    )
    files = {"centered_eight": (example, centered_eight)}
    for engine in ["h5netcdf", "netcdf4"]:
        for name, data in [("centered_eight", centered_eight), ("mixed", mixed)]:
            path = os.path.join(folder, f"{name}_{engine}.nc")
            data.to_netcdf(path, engine=engine)
            files[f"{name}, {engine}"] = (path, data)
    described = {key: {"path": path, "groups": describe(data)} for key, (path, data) in files.items()}
    with open(os.path.join(folder, "theirs.json"), "w", encoding="utf-8") as file:
        json.dump(described, file)


if __name__ == "__main__":
    {"open": open_ours, "write": write_theirs}[sys.argv[1]](sys.argv[2])
