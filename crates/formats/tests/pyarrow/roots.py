"""Reads Octopus' Parquet files of square roots with pyarrow, named `TYPE-SHAPE.parquet`, e.g. `f4-5x3.parquet`.

    OCTOPUS_PYTHON_ZARR3=/tmp/zarr3/bin/python cargo nextest run --release -E 'test(pyarrow_reads)'

The Python is that of `crates/runs/tests/arviz/check_zarr3.py`.
"""

import json
import os
import sys

import numpy as np
import pyarrow
from pyarrow import parquet

GROUP = 1 << 20


def read(path):
    name, shape = os.path.basename(path).removesuffix(".parquet").split("-")
    shape = tuple(int(length) for length in shape.split("x"))
    file = parquet.ParquetFile(path)
    assert json.loads(file.metadata.metadata[b"octopus"]) == {"what": "roots"}
    assert file.metadata.num_rows == shape[0]
    groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
    rows = GROUP // (shape[1] if len(shape) > 1 else 1)
    assert all(group.num_rows == rows for group in groups[:-1]) and 1 <= groups[-1].num_rows <= rows
    assert {group.column(0).compression for group in groups} == {"UNCOMPRESSED"}
    table = file.read()
    field = table.schema.field("root")
    assert table.num_columns == 1 and not field.nullable
    column = table.column("root").combine_chunks()
    if len(shape) > 1:
        assert field.type.list_size == shape[1] and pyarrow.types.is_fixed_size_list(field.type)
        column = column.flatten()
    expected = np.sqrt(np.arange(np.prod(shape), dtype=np.float64))
    # As `octopus random` rounds draws: float16 is of float32.
    expected = expected.astype("f8" if name == "f8" else "f4").astype(name)
    found = column.to_numpy(zero_copy_only=False)
    assert found.dtype == expected.dtype, found.dtype
    np.testing.assert_array_equal(found, expected)
    # One group alone, the last.
    last = file.read_row_group(len(groups) - 1).column("root").combine_chunks()
    assert len(last) == groups[-1].num_rows
    print(f"pyarrow {pyarrow.__version__}: {os.path.basename(path)}: equal")


for argument in sys.argv[1:]:
    read(argument)
