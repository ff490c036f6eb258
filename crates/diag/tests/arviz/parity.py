"""Recomputes the stored expected values with the ArviZ that is installed, and ends with 1 when one has changed.

    python parity.py

The values of arviz-stats are compared too where it is installed. Versions of NumPy and SciPy may differ in last bits, hence
the tolerance: 1e-10 relative, as in the Rust tests; of the solver's weights 1e-3.
"""

import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


class Differences:
    def __init__(self):
        self.lines, self.compared = [], 0

    def compare(self, place, stored, found, tolerance=1e-10):
        if isinstance(stored, dict):
            if set(stored) != set(found):
                self.lines.append(f"{place}: {sorted(stored)} stored, {sorted(found)} found")
            for key in set(stored) & set(found):
                loose = "best" in key or "stacking" in key
                self.compare(f"{place}.{key}", stored[key], found[key], 1e-3 if loose else tolerance)
        elif isinstance(stored, list):
            if len(stored) != len(found):
                self.lines.append(f"{place}: {len(stored)} values stored, {len(found)} found")
            # Autocovariances and quantiles near 0 are differences of larger numbers.
            size = max((abs(v) for v in stored if isinstance(v, float)), default=0.0)
            for i, (a, b) in enumerate(zip(stored, found)):
                self.number(f"{place}[{i}]", a, b, tolerance, 1e-2 * size)
        else:
            self.number(place, stored, found, tolerance, 0.0)

    def number(self, place, stored, found, tolerance, scale):
        if isinstance(stored, (dict, list)):
            return self.compare(place, stored, found, tolerance)
        self.compared += 1
        if stored == found:
            return None
        numbers = [isinstance(v, (int, float)) and math.isfinite(v) for v in (stored, found)]
        if not all(numbers) or abs(stored - found) > tolerance * max(abs(stored), scale):
            self.lines.append(f"{place}: {stored} stored, {found} found")
        return None


def compare(name, document):
    stored = json.loads((HERE / name).read_text())
    differences = Differences()
    differences.compare(name, stored, json.loads(json.dumps(document)))
    print(f"{name}: {differences.compared} values, {len(differences.lines)} differ")
    for line in differences.lines[:20]:
        print(line)
    return not differences.lines


def main():
    try:
        import make_expected
    except ImportError as error:
        print(f"SKIPPED: no ArviZ here ({error})")
        return 0
    array, document = make_expected.document()
    good = compare("expected.json", document)
    good &= array.tobytes() == (HERE / "eight_schools.f64").read_bytes()
    try:
        import make_expected_stats
    except ImportError as error:
        print(f"SKIPPED: no arviz-stats here ({error})")
    else:
        good &= compare("expected_stats.json", {"cases": make_expected_stats.cases()})
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
