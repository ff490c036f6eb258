"""NumPy's side of the tests of `.npy` files.

    python numpy_files.py headers > headers.txt    the headers that NumPy writes, with which ours are compared
    python numpy_files.py write FOLDER             arrays for us to read
    python numpy_files.py read FOLDER              reads what we wrote, and fails where it is another array

Numbers are the square roots of 0, 1, 2, ..., rounded to the type.
"""

import io
import sys
from pathlib import Path

import numpy as np

TYPES = ["<f8", "<f4", "<f2"]
SHAPES = [(), (0,), (1,), (1000,), (5, 2), (0, 3), (3, 0), (2, 3, 4)]
LARGE = [(10**10,), (10**8, 64), (2**40, 1), (9, 9, 9, 9), (1,) * 20]


def array(descr, shape):
    count = int(np.prod(shape, dtype=np.int64))
    return np.sqrt(np.arange(count, dtype=np.float64)).astype(descr).reshape(shape)


def file_name(descr, shape):
    return f"{descr[1:]}-{'x'.join(map(str, shape)) or 'single'}.npy"


def headers():
    for descr in TYPES:
        for shape in SHAPES + LARGE:
            file = io.BytesIO()
            head = {"descr": descr, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, head)
            lengths = "".join(f"{length}," for length in shape)
            print(f"{descr}:{lengths} {file.getvalue().hex()}")


def write(folder):
    for descr in TYPES:
        for shape in SHAPES:
            np.save(folder / file_name(descr, shape), array(descr, shape))
    np.save(folder / "bad-big.npy", np.zeros(3, ">f8"))
    np.save(folder / "bad-fortran.npy", np.asfortranarray(np.zeros((3, 2))))
    np.save(folder / "bad-object.npy", np.array([None, 1], dtype=object), allow_pickle=True)
    np.save(folder / "bad-record.npy", np.zeros(3, [("a", "<f8"), ("b", "<i4")]))
    np.save(folder / "bad-integer.npy", np.arange(3))


def read(folder):
    for descr in TYPES:
        for shape in SHAPES:
            path = folder / file_name(descr, shape)
            expected = array(descr, shape)
            # NumPy does not map arrays without elements.
            modes = [None, "r"] if expected.size else [None]
            for mode in modes:
                found = np.load(path, mmap_mode=mode)
                assert found.dtype == np.dtype(descr) and found.shape == shape, (path, found.dtype, found.shape)
                assert found.tobytes() == expected.tobytes(), path
                assert mode is None or found.offset % 64 == 0, (path, found.offset)
            saved = io.BytesIO()
            np.save(saved, expected)
            assert saved.getvalue() == path.read_bytes(), f"{path} has not the bytes of np.save"


if __name__ == "__main__":
    verb, *arguments = sys.argv[1:]
    {"headers": headers, "write": write, "read": read}[verb](*map(Path, arguments))
