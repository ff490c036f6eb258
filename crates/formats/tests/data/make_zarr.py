"""Every codec and type that the Zarr reader knows, written by zarr-python, and the values in it.

    python make_zarr.py    # with zarr 2.18.7 makes zarr/v2.zarr.json, with zarr 3.1.6 zarr/v3.zarr.json
"""

import json
import os
import shutil
import warnings

warnings.simplefilter("ignore")

import numcodecs
import numpy as np
import zarr
from pack import pack

HERE = os.path.dirname(os.path.abspath(__file__))
RANDOM = np.random.default_rng(5)
SHAPE, CHUNKS = (2, 20, 3), (1, 9, 2)
DIMS = ["chain", "draw", "g"]
DRAWS = np.round(RANDOM.normal(size=SHAPE), 2)

TYPES = {
    "f8": DRAWS, "f4": DRAWS.astype("f4"), "f2": DRAWS.astype("f2"), "f8_big": DRAWS.astype(">f8"), "i4_big": (DRAWS * 100).astype(">i4"),
    "flags": DRAWS > 0, "u8_large": np.array([0, 2**63 + 2048], dtype="u8"), "none": np.zeros((2, 0)), "scalar": np.array(2.5),
    "words": np.array(["oslo", "são paulo", "", "☃"]), **{f"{kind}{width}": (np.abs(DRAWS[0, :9, 0]) * 40).astype(f"{kind}{width}") for kind in "iu" for width in [1, 2, 4, 8]},
}


def dims_of(name, array):
    return DIMS[: array.ndim] if array.shape == SHAPE else [f"{name}_{axis}" for axis in range(array.ndim)]


def version_2(path):
    root = zarr.open_group(path, mode="w")
    group = root.create_group("posterior")
    group.attrs["note"] = "naïve"
    group.attrs["limit"] = float("inf")
    arrays = {}

    def add(name, array, **options):
        array = np.asarray(array)
        options = {"chunks": CHUNKS if array.shape == SHAPE else True, "fill_value": None, **options}
        group.create_dataset(name, data=array, **options).attrs["_ARRAY_DIMENSIONS"] = dims_of(name, array)
        arrays[name] = array

    for cname in ["lz4", "lz4hc", "zlib", "zstd"]:
        for shuffle in [0, 1, 2]:
            add(f"blosc_{cname}_{shuffle}", DRAWS, compressor=numcodecs.Blosc(cname, 5, shuffle))
    # Long enough to be stored as a stream for each byte of a value.
    add("blosc_split", np.arange(2000) / 8, compressor=numcodecs.Blosc("lz4", 5, 1))
    add("blosc_split_bits", np.arange(2000) / 8, compressor=numcodecs.Blosc("lz4", 5, 2))
    add("blosc_odd", np.arange(101, dtype="i2"), compressor=numcodecs.Blosc("lz4", 5, 2))
    add("blosc_blocks", DRAWS, compressor=numcodecs.Blosc("zstd", 5, 1, blocksize=64))
    add("blosc_stored", RANDOM.random(5), compressor=numcodecs.Blosc("lz4", 5, 1))
    for name, codec in {"gzip": numcodecs.GZip(1), "zlib": numcodecs.Zlib(1), "zstd": numcodecs.Zstd(3), "lz4": numcodecs.LZ4(1), "plain": None}.items():
        add(name, DRAWS, compressor=codec)
    add("shuffled", DRAWS, compressor=numcodecs.Zlib(1), filters=[numcodecs.Shuffle(8)])
    add("fortran", DRAWS, order="F")
    add("slashes", DRAWS, dimension_separator="/")
    for name, array in TYPES.items():
        add(f"type_{name}", array)
    add("type_bytes", np.array([b"a", b"", b"long"]))
    add("type_objects", TYPES["words"].astype(object), object_codec=numcodecs.VLenUTF8())
    # What is in no chunk, and what xarray takes for missing.
    holes = group.create_dataset("holes", shape=(2, 4), chunks=(1, 2), dtype="f8", fill_value=float("nan"))
    holes[0, :2] = 1.5
    holes.attrs["_ARRAY_DIMENSIONS"] = ["chain", "four"]
    arrays["holes"] = holes[:]
    add("masked", np.array([1, -9, 3]), fill_value=-9)
    arrays["masked"] = np.array([1.0, np.nan, 3.0])
    zarr.consolidate_metadata(path)
    return arrays


def version_3(path):
    from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

    root = zarr.open_group(path, mode="w", zarr_format=3)
    group = root.create_group("posterior", attributes={"note": "naïve"})
    arrays = {}

    def add(name, array, **options):
        array = np.asarray(array)
        options = {"chunks": CHUNKS if array.shape == SHAPE else "auto", "dimension_names": dims_of(name, array), **options}
        created = group.create_array(name, shape=array.shape, dtype=options.pop("dtype", array.dtype), **options)
        created[...] = array
        arrays[name] = array

    for cname in ["lz4", "lz4hc", "zlib", "zstd"]:
        for shuffle in ["noshuffle", "shuffle", "bitshuffle"]:
            add(f"blosc_{cname}_{shuffle}", DRAWS, compressors=BloscCodec(cname=cname, shuffle=shuffle))
    for name, codec in {"gzip": GzipCodec(level=1), "zstd": ZstdCodec(level=3), "checked_zstd": ZstdCodec(checksum=True), "plain": None}.items():
        add(name, DRAWS, compressors=codec)
    add("crc32c", DRAWS, compressors=[Crc32cCodec()])
    add("big_endian", DRAWS, serializer=BytesCodec(endian="big"))
    add("transposed", DRAWS, filters=[TransposeCodec(order=(2, 0, 1))])
    add("sharded", DRAWS, chunks=(1, 5, 1), shards=(2, 15, 2))
    add("sharded_gzip", DRAWS, chunks=(1, 5, 3), shards=(1, 10, 3), compressors=GzipCodec(level=1))
    add("dots", DRAWS, chunk_key_encoding={"name": "v2", "separator": "."})
    for name, array in TYPES.items():
        if "big" not in name:
            add(f"type_{name}", array)
    add("type_text", TYPES["words"].astype(object), dtype="string")
    add("holes", np.array([[1.5, 2.5, np.nan, np.nan], [np.nan] * 4]), chunks=(1, 2), fill_value=float("nan"))
    return arrays


def describe(arrays):
    described = {}
    for name, array in arrays.items():
        values = [repr(value) if isinstance(value, float) else value.decode() if isinstance(value, bytes) else str(value) for value in array.ravel().tolist()]
        described[name] = {"shape": list(array.shape), "values": values}
    return described


if __name__ == "__main__":
    major = int(zarr.__version__.split(".")[0])
    name = os.path.join(HERE, "zarr", f"v{major}")
    shutil.rmtree(name + ".zarr", ignore_errors=True)
    arrays = {2: version_2, 3: version_3}[major](name + ".zarr")
    pack(name + ".zarr")
    with open(name + "_values.json", "w", encoding="utf-8") as file:
        # Most arrays are the same.
        shared = describe({"draws": DRAWS})["draws"]
        described = {key: "draws" if value == shared else value for key, value in describe(arrays).items()}
        json.dump({"draws": shared, "arrays": described}, file, ensure_ascii=False)
        file.write("\n")
