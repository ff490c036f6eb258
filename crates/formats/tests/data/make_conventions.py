"""A small trace with every convention of xarray's, written by xarray, and what xarray reads in it: `conventions/`.

    pip install xarray==2026.9.0 netCDF4 cftime zarr==3.1.6
    python make_conventions.py

Axes lie in other orders than chains and draws first; there are labels of every type, coordinates that label no
dimension, packed integers, and attributes of variables.
"""

import json
import os
import shutil
import warnings

warnings.simplefilter("ignore")

import cftime
import numpy as np
import xarray
from pack import pack

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "conventions")
CHAINS, DRAWS, K = 2, 3, 3


def posterior():
    count = np.arange(CHAINS * DRAWS * K, dtype=float)
    labels = {
        "day": np.array(["2020-01-31", "2020-02-29", "NaT"], "datetime64[ns]"),
        "hour": np.array(["1850-01-01T12:00", "2020-01-01", "2020-01-01T06:30"], "datetime64[ns]"),
        "instant": np.array(["2020-01-01T00:00:00.000000001", "2020-01-01", "2020-01-02"], "datetime64[ns]"),
        "model_day": [cftime.Datetime360Day(2020, 2, 30), cftime.Datetime360Day(2020, 3, 1), cftime.Datetime360Day(2021, 1, 1)],
        "no_leap": [cftime.DatetimeNoLeap(2020, 2, 28, 18), cftime.DatetimeNoLeap(2020, 3, 1), cftime.DatetimeNoLeap(850, 1, 1)],
        "old_day": [cftime.DatetimeGregorian(1582, 10, 4), cftime.DatetimeGregorian(1582, 10, 15), cftime.DatetimeGregorian(1, 1, 1)],
        "lag": np.array([1, 2, 30], "timedelta64[D]").astype("timedelta64[ns]"),
        "pause": np.array([90, 3600, 1], "timedelta64[s]").astype("timedelta64[ns]"),
        "dose": [0.1, 0.25, 1.0],
        "single": np.array([0.1, 0.25, 1e10], "f4"),
        "year": [2001, 2005, 1999],
        "flag": [True, False, True],
        "city": ["oslo", "são paulo", "x"],
    }
    variables = {}
    for at, dim in enumerate(labels):
        order = [(dim, "chain", "draw"), (dim, "draw", "chain"), ("draw", "chain", dim), ("chain", dim, "draw")][at % 4]
        whole = xarray.DataArray(count.reshape(CHAINS, DRAWS, K) + at, dims=("chain", "draw", dim))
        variables[f"of_{dim}"] = whole.transpose(*order)
    data = xarray.Dataset(variables, coords={name: (name, values) for name, values in labels.items()})
    data["mu"] = (("draw", "chain"), count[: CHAINS * DRAWS].reshape(DRAWS, CHAINS), {"units": "kg", "long_name": "mean", "levels": [1, 2]})
    # Stored as integers of one and two bytes, with missing values, a scale and no sign.
    data["bytes"] = (("chain", "draw"), np.array([[0, 200, 255], [1, 128, 127]], "u1").view("i1"), {"_Unsigned": "true"})
    data["packed"] = (("chain", "draw"), np.array([[0.5, np.nan, 1.0], [-0.5, 2.0, 3.5]]))
    data["packed"].encoding = {"dtype": "i2", "scale_factor": 0.5, "add_offset": 1.0, "_FillValue": -999}
    data = data.assign_coords(
        run=7,
        began=np.datetime64("2020-01-31T12:00", "ns"),
        block=(("draw",), [0, 0, 1], {"long_name": "block of the draws"}),
        region=(("city",), ["north", "south", "north"]),
        weight=(("chain", "draw"), np.array([[0.5, 1.5, 2.5], [3.5, 4.5, 5.5]])),
    )
    data["year"].attrs["long_name"] = "year of harvest"
    data["chain"] = ("chain", [1, 2])
    return data


def stats():
    return xarray.Dataset(
        {"lp": (("draw", "chain"), np.arange(6.0).reshape(DRAWS, CHAINS)), "diverging": (("draw", "chain"), np.eye(3, 2, dtype=bool))},
        coords={"run": 7},
    )


def text(value):
    if isinstance(value, np.datetime64):
        return str(value)
    return repr(value.item()) if isinstance(value, np.floating) else str(value)


def shown(labels):
    """Labels as Octopus shows them: times in the longest unit in which all are whole."""
    values = labels.values
    if values.dtype.kind == "M":
        whole = {unit: (values.astype(f"datetime64[{unit}]").astype("datetime64[ns]") == values) | np.isnat(values) for unit in ["D", "s", "ms", "us"]}
        unit = next((unit for unit in whole if whole[unit].all()), "ns")
        return np.datetime_as_string(values, unit=unit).tolist()
    if values.dtype.kind == "m":
        for unit, name in [("D", "days"), ("h", "hours"), ("m", "minutes"), ("s", "seconds")]:
            if (values.astype(f"timedelta64[{unit}]") == values).all():
                return [f"{count} {name}" for count in values.astype(f"timedelta64[{unit}]").astype(int)]
    if values.dtype.kind == "O" and hasattr(values[0], "calendar"):
        dates = all(value.strftime("%H:%M:%S.%f") == "00:00:00.000000" for value in values)
        return [f"{v.year:04}-{v.month:02}-{v.day:02}" + ("" if dates else f"T{v.hour:02}:{v.minute:02}:{v.second:02}") for v in values]
    if values.dtype.kind == "b":
        return [str(value).lower() for value in values]
    if values.dtype.kind == "f":
        return [str(value).replace("1e+10", "10000000000.0") for value in values]
    return [str(value) for value in values.tolist()]


def describe(dataset):
    def array(found):
        own = [dim for dim in ("chain", "draw") if dim in found.dims]
        found = found.transpose(*own, *[dim for dim in found.dims if dim not in own])
        values = [repr(v) if isinstance(v, float) else str(v) for v in found.values.ravel().tolist()]
        return {"dims": list(found.dims), "shape": list(found.shape), "values": values}

    others = {name: found for name, found in dataset.coords.items() if found.dims != (name,)}
    return {
        "variables": {name: array(found) for name, found in dataset.data_vars.items()},
        "coords": {name: shown(found) for name, found in dataset.coords.items() if found.dims == (name,)},
        # A date stays the number that it is stored as.
        "others": {name: array(found) for name, found in others.items() if found.dtype.kind != "M"},
        "attrs": {name: {key: value for key, value in found.attrs.items()} for name, found in dataset.variables.items() if found.attrs},
    }


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    os.mkdir(HERE)
    path = os.path.join(HERE, "xarray.nc")
    groups = {"posterior": posterior(), "sample_stats": stats()}
    for mode, (group, data) in zip("wa", groups.items()):
        data.to_netcdf(path, group=group, mode=mode, engine="netcdf4")
    described = {group: describe(xarray.open_dataset(path, group=group)) for group in groups}
    for version in (2, 3):
        store = os.path.join(HERE, f"xarray_v{version}.zarr")
        for mode, (group, data) in zip("wa", groups.items()):
            data.to_zarr(store, group=group, mode=mode, zarr_format=version)
        described[f"zarr_v{version}"] = {group: describe(xarray.open_zarr(store, group=group).load()) for group in groups}
        pack(store)
    with open(os.path.join(HERE, "xarray.json"), "w", encoding="utf-8") as file:
        json.dump(described, file, ensure_ascii=False, default=lambda value: value.tolist())
        file.write("\n")


main()
