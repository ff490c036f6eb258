#!/usr/bin/env python3
"""Makes src/ffi/shim/functions.rs from the declarations of cust_raw.

    python3 crates/cuda/tools/generate_shim.py [--check]

Run it when the version of cust_raw changes, and commit what it writes. `--check` writes nothing and ends with 1
when the file differs. The compiler checks every signature against cust_raw besides, and a test counts the functions.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

CRATE = Path(__file__).resolve().parent.parent
TARGET = CRATE / "src/ffi/shim/functions.rs"
# These two must answer even where there is no driver, so they are written by hand (describe.rs).
BY_HAND = {"cuGetErrorString", "cuGetErrorName"}


def declarations() -> tuple[str, str]:
    """The version of cust_raw in this workspace and the text of its declarations."""
    command = [os.environ.get("CARGO", "cargo"), "metadata", "--format-version", "1", "--manifest-path", str(CRATE / "Cargo.toml")]
    packages = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["packages"]
    package = next(p for p in packages if p["name"] == "cust_raw")
    return package["version"], (Path(package["manifest_path"]).parent / "src/cuda.rs").read_text()


def functions(source: str) -> list[str]:
    """One line a function, in the form that the macro `forward!` reads."""
    lines = []
    for name, arguments in re.findall(r"pub fn (cu\w+)\((.*?)\)\s*->\s*CUresult;", source, re.S):
        if name in BY_HAND:
            continue
        kinds = [a.split(":", 1)[1] for a in arguments.split(",") if a.strip()]
        kinds = [re.sub(r"\s+", " ", k).strip() for k in kinds]
        kinds = [k.replace("::std::os::raw::", "").replace("::std::option::", "") for k in kinds]
        listed = ", ".join(f"a{i}: {kind}" for i, kind in enumerate(kinds))
        lines.append(f"    fn {name}({listed});")
    return lines


def codes(source: str) -> list[str]:
    """The result codes that cust_raw's enum lists: any other must not reach Rust."""
    body = re.search(r"pub enum cudaError_enum \{(.*?)\}", source, re.S).group(1)
    return [f"    {code}, // {name}" for name, code in re.findall(r"(CUDA_\w+) = (\d+)", body)]


def main() -> int:
    version, source = declarations()
    text = "\n".join(
        [
            f"// Made by crates/cuda/tools/generate_shim.py from cust_raw {version}: do not edit.",
            "",
            "forward! {",
            *functions(source),
            "}",
            "",
            "/// The codes that `cust_raw::CUresult` lists, in its order.",
            "const LISTED_CODES: &[u32] = &[",
            *codes(source),
            "];",
            "",
        ]
    )
    if "--check" in sys.argv[1:]:
        same = TARGET.read_text() == text
        print("up to date" if same else f"{TARGET.name} is stale: run this script without --check")
        return 0 if same else 1
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
