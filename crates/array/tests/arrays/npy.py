"""NumPy's side of the tests of `Array::save` and `Array::load`.

    python npy.py write FOLDER    arrays for us to load
    python npy.py read FOLDER     loads what we saved, and fails where it is another array

Numbers are the square roots of 0, 1, 2, ..., rounded to the type.
"""

import sys
from pathlib import Path

import numpy as np

SHAPES = [(0,), (7,), (3, 4), (1, 5), (5, 1), (0, 3), (300, 401)]

verb, folder = sys.argv[1], Path(sys.argv[2])
for name, dtype in [("f16", np.float16), ("f32", np.float32), ("f64", np.float64)]:
    for shape in SHAPES:
        path = folder / f"{name}-{'x'.join(map(str, shape))}.npy"
        expected = np.sqrt(np.arange(np.prod(shape))).astype(dtype).reshape(shape)
        if verb == "write":
            np.save(path, expected)
        else:
            found = np.load(path)
            assert found.dtype == dtype and found.flags.c_contiguous, (path, found.dtype)
            np.testing.assert_array_equal(found, expected, err_msg=str(path), strict=True)
if verb == "write":
    np.save(folder / "single.npy", np.float64(1.5))
    np.save(folder / "cube.npy", np.zeros((2, 3, 4)))
    np.save(folder / "whole.npy", np.arange(3))
    np.save(folder / "fortran.npy", np.asfortranarray(np.ones((2, 3))))
