"""Opens Octopus' Zarr stores of both versions with xarray and zarr 3, and its Parquet files with pandas.

    python -m venv /tmp/zarr3 && /tmp/zarr3/bin/pip install -r requirements-zarr3.txt
    OCTOPUS_PYTHON_ZARR3=/tmp/zarr3/bin/python cargo test --release -p octopus-runs --test arviz -- --nocapture

The Rust test calls `check_zarr3.py open DIR`; what xarray read it writes as `copy.zarr`, which Rust reads.
"""

import json
import os
import sys
import warnings

import numpy as np
import pandas
import xarray
import zarr


def values_of(variable):
    dtype = {"f64": float, "i64": int, "bool": bool, "str": str}[variable["kind"]]
    return np.array([dtype(value) for value in variable["values"]]).reshape(variable["shape"])


def compare(found, expected, where):
    assert sorted(found) == sorted(expected), f"{where}: groups {sorted(found)}"
    for group, wanted in expected.items():
        dataset, place = found[group], f"{where}: {group}"
        assert sorted(dataset.data_vars) == sorted(wanted["variables"]), f"{place}: {list(dataset.data_vars)}"
        for name, variable in wanted["variables"].items():
            array = dataset[name]
            assert list(array.dims) == variable["dims"], f"{place}: {name}: dims {array.dims}"
            kind = {"f64": "f", "i64": "i", "bool": "b", "str": "UOT"}[variable["kind"]]
            assert array.dtype.kind in kind, f"{place}: {name}: type {array.dtype}"
            np.testing.assert_array_equal(array.values, values_of(variable), err_msg=f"{place}: {name}")
        assert sorted(dataset.coords) == sorted(wanted["coords"]), f"{place}: coords {list(dataset.coords)}"
        for name, labels in wanted["coords"].items():
            assert list(dataset.coords[name].values) == labels, f"{place}: {name}: {dataset.coords[name].values}"
        assert dataset.attrs == wanted["attrs"], f"{place}: attrs {dataset.attrs}"


def groups_of(tree):
    return {name: node.to_dataset() for name, node in tree.children.items()}


def open_ours(folder):
    with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
        expected = json.load(file)
    warnings.simplefilter("error")
    for name in ["trace.zarr", "trace_v2.zarr"]:
        path = os.path.join(folder, name)
        compare(groups_of(xarray.open_datatree(path, engine="zarr")), expected, f"open_datatree, {name}")
        one = xarray.open_zarr(path, group="posterior")
        assert sorted(one.data_vars) == sorted(expected["posterior"]["variables"])
        print(f"xarray {xarray.__version__}, zarr {zarr.__version__}: {name}: equal, no warning")
    # The store is consolidated, so that one read tells all.
    assert zarr.open_consolidated(os.path.join(folder, "trace.zarr")).metadata.consolidated_metadata is not None

    for group, wanted in expected.items():
        table = pandas.read_parquet(os.path.join(folder, "trace.parquet", f"{group}.parquet"))
        for name, variable in wanted["variables"].items():
            values = np.array(table[name].tolist()).reshape(variable["shape"])
            np.testing.assert_array_equal(values, values_of(variable), err_msg=f"pandas: {group}: {name}")
        rows = [dim for dim in ["chain", "draw", "obs"] if dim in table.columns]
        for dim in rows:
            assert set(table[dim]) == set(wanted["coords"][dim]), f"pandas: {group}: {dim}"
    print(f"pandas {pandas.__version__}: read_parquet: equal, no warning")

    tree = xarray.open_datatree(os.path.join(folder, "trace.zarr"), engine="zarr").load()
    # zarr 3 warns that consolidated metadata and fixed-length words are not yet in the specification.
    warnings.simplefilter("ignore")
    tree.to_zarr(os.path.join(folder, "copy.zarr"), zarr_format=3)


if __name__ == "__main__":
    {"open": open_ours}[sys.argv[1]](sys.argv[2])
