"""Writes the Parquet files of the tests that other writers' habits are needed for (pyarrow).

    python make_parquet.py
"""

import pyarrow as pa
import pyarrow.parquet as pq

table = pa.table({"city": pa.array(["oslo", "rome", "oslo"]).dictionary_encode(), "y": [1.0, 2.0, 4.0]})
for codec in ["zstd", "gzip", "snappy"]:
    pq.write_table(table, f"{codec}.parquet", compression=codec)
# One column that Octopus cannot unpack.
table = table.append_column("note", pa.array(["a", "b", "c"]))
pq.write_table(table, "brotli.parquet", compression={"city": "none", "y": "none", "note": "brotli"}, store_schema=False)
