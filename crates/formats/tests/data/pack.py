"""Packs a Zarr store, a folder of hundreds of files, into one file of JSON: metadata as they are, the bytes of
other files as hexadecimal after `hex:`.

    python pack.py STORE.zarr     # makes STORE.zarr.json and removes the folder
"""

import json
import os
import shutil
import sys


def pack(store):
    files = {}
    for folder, _, names in os.walk(store):
        # Consolidated metadata repeat the others, and the reader does without.
        for name in set(names) - {".zmetadata"}:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                content = file.read()
            try:
                content = json.dumps(json.loads(content))
            except ValueError:
                content = "hex:" + content.hex()
            files[os.path.relpath(path, store).replace(os.sep, "/")] = content
    with open(store + ".json", "w", encoding="utf-8") as file:
        json.dump(files, file, indent=0, sort_keys=True)
        file.write("\n")
    shutil.rmtree(store)


if __name__ == "__main__":
    pack(sys.argv[1])
