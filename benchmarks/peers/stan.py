"""Stan's own log densities and gradients, and the time of a gradient: the truth for our Stan programs, and the peer.

    python3 -m venv venv && venv/bin/pip install httpstan
    venv/bin/python stan.py build LIST --into DIR [--jobs 2]
    venv/bin/python stan.py values PROGRAM.stan DATA.json --into DIR [--points 5] [--scale 2] [--seconds 1]

LIST has lines of a name, a program and its data, parted by tabs. `build` makes an executable `DIR/NAME` of each
program (once; one that several names share is compiled once), and writes `DIR/NAME.json` with the seconds of
CPU that stanc and the compiler took (Stan's headers are compiled before, once). What an executable is asked and answers is said in stan_gradient.cpp.

`values` prints JSON: Stan's log densities (constants dropped, Jacobians included) and gradients at points that are
uniform between -scale and scale, or, where the density is not finite there, nearer to 0; and ns a gradient.

stanc, Stan's headers and its libraries are in the wheel of httpstan (4.17 has Stan 2.39; Python 3.12 or 3.13). C++
is compiled by g++ -O3 -march=native, without threads, checks of Eigen or assertions, as fast as Stan gets.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
FAST = ["-O3", "-march=native"]
FLAGS = [
    "-std=c++17",
    "-w",
    "-DNDEBUG",
    "-DEIGEN_NO_DEBUG",
    "-DBOOST_DISABLE_ASSERTS",
    "-DBOOST_PHOENIX_NO_VARIADIC_EXPRESSION",
    "-D_REENTRANT",
    "-D_GLIBCXX_USE_CXX11_ABI=0",
]


def wheel():
    """The folder of the installed httpstan."""
    found = find_spec("httpstan")
    if found is None:
        sys.exit("error: httpstan is not installed: pip install httpstan")
    return Path(found.origin).parent


def gradient_only(code):
    """The C++ of a model as a class that has a log density and no more: a fraction of the compiler's work."""
    code = code.replace("model_base_crtp", "gradient_model_of").replace("const final {", "const {")
    make = """
stan::model::gradient_model& new_gradient_model(stan::io::var_context& data, std::ostream* messages) {
  return *new stan_model(data, 1, messages);
}
"""
    return code[: code.rindex("#ifndef USING_R")] + make


class Compiler:
    """Compiles Stan programs to executables in one folder: fast ones, or sooner."""

    # The program that asks a model; its header has the same name.
    source = HERE / "stan_gradient.cpp"

    def __init__(self, into, optimise=FAST):
        self.into = Path(into).resolve()
        self.into.mkdir(parents=True, exist_ok=True)
        self.wheel = wheel()
        self.parts = self.into / "parts"
        self.parts.mkdir(exist_ok=True)
        self.flags = [*optimise, *FLAGS, f"-I{self.parts}", f"-I{self.source.parent}", f"-I{self.wheel / 'include'}"]

    def run(self, command, **keywords):
        """Runs a command; returns the seconds of CPU that it took."""
        process = subprocess.Popen([str(word) for word in command], **keywords)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, command)
        return usage.ru_utime + usage.ru_stime

    def gxx(self, *args):
        return self.run(["g++", *self.flags, *args])

    def model(self, code):
        """What of stanc's C++ is compiled."""
        return gradient_only(code)

    def prepare(self):
        """Compiles what all models share: Stan's headers, and the program that asks a model."""
        header = self.parts / "all.hpp"
        if not (self.parts / "all.hpp.gch").exists():
            header.write_text(f'#include "{self.source.stem}.hpp"\n')
            self.gxx("-x", "c++-header", header, "-o", self.parts / "all.hpp.gch")
        asks = self.parts / f"{self.source.stem}.o"
        if not asks.exists() or asks.stat().st_mtime < self.source.stat().st_mtime:
            self.gxx("-include", "all.hpp", "-c", self.source, "-o", asks)
        return asks

    def executable(self, program):
        """The executable of a program, and the seconds of CPU that stanc and the compiler took."""
        text = Path(program).read_bytes()
        name = hashlib.sha256(text).hexdigest()[:16]
        made, record = self.parts / name, self.parts / f"{name}.json"
        is_old = made.exists() and made.stat().st_mtime < self.source.stat().st_mtime
        if is_old or not (made.exists() and record.exists()):
            asks = self.prepare()
            code = self.parts / f"{name}.hpp"
            stanc = [self.wheel / "stanc", "--allow-undefined", f"--o={code}", "--name=stan_model", program]
            seconds = self.run(stanc, stderr=subprocess.DEVNULL)
            code.write_text(self.model(code.read_text()))
            object_file = self.parts / f"{name}.o"
            seconds += self.gxx("-include", "all.hpp", "-x", "c++", "-c", code, "-o", object_file)
            library = self.wheel / "lib"
            archives = [library / f"libsundials_{k}.a" for k in ("cvodes", "idas", "kinsol", "nvecserial")]
            seconds += self.gxx(
                asks, object_file, *archives, library / "libtbb.so.2", f"-Wl,-rpath,{library}", "-o", made
            )
            object_file.unlink()
            record.write_text(json.dumps({"compile_seconds": seconds}))
        return made, json.loads(record.read_text())["compile_seconds"]


class Model:
    """A running executable with its data."""

    def __init__(self, executable, data):
        self.process = subprocess.Popen(
            [executable, data], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.dim = int(self.process.stdout.readline().split()[1])

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().split()

    def gradient(self, x):
        """The log density and its gradient; none where Stan rejects the point."""
        answer = self.ask("point " + " ".join(repr(v) for v in x))
        if answer[0] != "value":
            return None
        numbers = [float(v) for v in answer[1:]]
        finite = all(abs(v) < float("inf") for v in numbers)
        return (numbers[0], numbers[1:]) if finite else None

    def time(self, seconds):
        """The least and the median ns of a gradient at the last point."""
        answer = self.ask(f"time {seconds}")
        return [float(v) for v in answer[1:3]] if answer[0] == "time" else None

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def finite_point(model, source, scale):
    """A uniform point where Stan has a finite value, with the value and the gradient."""
    for k in range(400):
        width = scale * 0.7 ** (k // 16)
        # Nine digits, so that the point is the same wherever its text is read.
        x = [round(source.uniform(-width, width), 9) for _ in range(model.dim)]
        found = model.gradient(x)
        if found is not None:
            return {"x": x, "value": found[0], "gradient": found[1]}
    return None


def values(compiler, program, data, points, scale, seconds, seed=1):
    """Values and gradients at some points, as a dictionary."""
    executable, compile_seconds = compiler.executable(program)
    model = Model(executable, data)
    source = random.Random(seed)
    found = [finite_point(model, source, scale) for _ in range(points)]
    result = {"dim": model.dim, "compile_seconds": compile_seconds, "points": [x for x in found if x is not None]}
    if seconds > 0:
        result["ns"] = model.time(seconds)
    model.close()
    return result


def build(args):
    compiler = Compiler(args.into)
    rows = [line.split("\t") for line in Path(args.list).read_text().splitlines() if line.count("\t") == 2]
    compiler.prepare()
    names = {}
    for name, program, _ in rows:
        names.setdefault(program, []).append(name)

    def one(program):
        try:
            made, seconds = compiler.executable(program)
        except subprocess.CalledProcessError as error:
            print(f"failed {program}: {error.cmd[0]} ended with {error.returncode}", flush=True)
            return
        for name in names[program]:
            here = compiler.into / name
            if not here.exists():
                here.symlink_to(made)
            (compiler.into / f"{name}.json").write_text(json.dumps({"compile_seconds": seconds}) + "\n")
            print(f"{name}: {seconds:.1f} s", flush=True)

    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(one, names))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("build")
    one.add_argument("list")
    one.add_argument("--into", required=True)
    one.add_argument("--jobs", type=int, default=1)
    one.set_defaults(run=build)
    one = commands.add_parser("values")
    one.add_argument("program")
    one.add_argument("data")
    one.add_argument("--into", required=True)
    one.add_argument("--points", type=int, default=5)
    one.add_argument("--scale", type=float, default=2.0)
    one.add_argument("--seconds", type=float, default=1.0)
    one.set_defaults(
        run=lambda a: print(
            json.dumps(values(Compiler(a.into), a.program, a.data, a.points, a.scale, a.seconds), indent=1)
        )
    )
    args = parser.parse_args()
    print(f"httpstan {version('httpstan')}, g++ {' '.join(FAST)}", file=sys.stderr)
    args.run(args)


if __name__ == "__main__":
    main()
