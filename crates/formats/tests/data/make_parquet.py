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

# A column of each type, and of each kind of list.
micro, day = 1_580_474_096_000_000, 18_292
draws = {"chain": pa.array([0, 0, 1, 1], pa.int8()), "draw": pa.array([0, 1, 0, 1], pa.uint16())}
whole = {f"{kind}": pa.array([1, 2, None, 100], kind) for kind in [pa.int8(), pa.int16(), pa.uint8(), pa.uint16()]}
types = draws | whole | {
    "uint32": pa.array([0, 1, 2, 2**32 - 1], pa.uint32()),
    "uint64": pa.array([0, 1, 2, 2**63], pa.uint64()),
    "int64": pa.array([0, -1, 2, 2**63 - 1], pa.int64()),
    "float": pa.array([0.5, None, -2.0, 1e30], pa.float32()),
    "half": pa.array([0.5, None, -2.0, 1.0], pa.float16()),
    "bool": pa.array([True, None, False, True]),
    "flags": pa.array([True, True, False, True]),
    "price": pa.array(["1.25", "-0.50", None, "-12345678.90"]).cast(pa.decimal128(10, 2)),
    "wide": pa.array(["1.50", "-0.07", "0.00", "-" + 50 * "9" + ".01"]).cast(pa.decimal256(60, 2)),
    "whole": pa.array(["5", "7", "-1", "0"]).cast(pa.decimal128(20, 0)),
    "small": pa.array(["5.5", "7.0", "-1.1", "0.0"]).cast(pa.decimal32(5, 1)),
    "text": pa.array(["a", None, "são", ""]),
    "large": pa.array(["a", None, "b", ""], pa.large_string()),
    "view": pa.array(["a", None, "b", ""], pa.string_view()),
    "city": pa.array(["oslo", None, "rome", "oslo"]).dictionary_encode(),
    "level": pa.array([7, 9, 7, 9]).dictionary_encode(),
    "date": pa.array([day, -1, None, day], pa.date32()),
    "date64": pa.array([day * 86_400_000, -86_400_000, None, 0], pa.date64()),
    "seconds": pa.array([micro // 10**6, 0, None, -1], pa.timestamp("s")),
    "millis": pa.array([micro // 1000, 0, None, -1], pa.timestamp("ms")),
    "micros": pa.array([micro, 0, None, -1], pa.timestamp("us")),
    "nanos": pa.array([micro * 1000, 0, None, -1], pa.timestamp("ns")),
    "ahead": pa.array([micro, 0, None, -1], pa.timestamp("us", "+01:00")),
    "rome": pa.array([micro, 0, None, -1], pa.timestamp("us", "Europe/Rome")),
    "days": pa.array([86_400, 172_800, None, 0], pa.duration("s")),
    "hours": pa.array([-86_400 * 10**6, 3_600 * 10**6, None, 0], pa.duration("us")),
    "clock": pa.array([1, 2, 3, 4], pa.time64("us")),
    "bytes": pa.array([b"oslo", b"rome", None, b""]),
    "fixed": pa.array([b"os", b"ro", None, b"  "], pa.binary(2)),
    "list": pa.array([[1, 2], [3, None], [5, 6], [7, 8]], pa.list_(pa.int16())),
    "large_list": pa.array([["a", "b"], ["c", None], ["", "f"], ["g", "h"]], pa.large_list(pa.string())),
    "fixed_list": pa.array([[0.5, 1], [2, 3], [4, 5], [6, 7]], pa.list_(pa.float32(), 2)),
    "required": pa.array([[1, 2], [3, 4], [5, 6], [7, 8]], pa.list_(pa.field("element", pa.float64(), False), 2)),
    "of_days": pa.array([[day], [day], [day], [day]], pa.list_(pa.date32())),
    "of_lists": pa.array([[[1.0]], [[2.0]], [[3.0]], [[4.0]]]),
    "struct": pa.array([{"x": 1.0, "y": "a"}] * 4),
    "map": pa.array([[("k", 1.0)]] * 4, pa.map_(pa.string(), pa.float64())),
    "null": pa.nulls(4),
}
pq.write_table(pa.table(types), "types.parquet")
# As Spark and Impala wrote times; encodings that are none of dictionaries; no types of Arrow's.
old = draws | {
    "time": types["micros"], "x": pa.array([0.5, 1.5, None, 3.5]), "n": pa.array([1, 2, 3, 40], pa.int32()),
    "text": types["text"], "list": types["list"],
}
encoding = {"x": "BYTE_STREAM_SPLIT", "n": "DELTA_BINARY_PACKED", "text": "DELTA_BYTE_ARRAY"}
pq.write_table(
    pa.table(old), "old.parquet", use_deprecated_int96_timestamps=True, store_schema=False, use_dictionary=False,
    column_encoding=encoding, use_compliant_nested_type=False, data_page_version="2.0",
)
