"""From a NetCDF file to the table of its summary: `octopus diagnose` beside `az.from_netcdf` and `az.summary`.

    python file_to_table.py ../../target/release/octopus [OTHER_OCTOPUS ...]

Needs arviz 0.23 and h5netcdf. Two files of 4 chains, 2000 draws and 2003 numbers each are read in turn by all programs, so
that each meets the same machine: one that ArviZ wrote with its compression, and the same as octopus writes it. Medians of
nine runs in seconds: ours of the whole process, ArviZ's without its start and its imports. Seconds of the processor are all
threads' together: they say more where others work on the same machine.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

RUNS = 9


def make(folder):
    """Writes the draws as ArviZ does; each number is a chain of its own with a correlation of 0.5."""
    import arviz as az
    import numpy as np

    noise = np.random.default_rng(1).standard_normal((4, 2000, 2003))
    for t in range(1, 2000):
        noise[:, t] += 0.5 * noise[:, t - 1]
    mu, tau, sigma = (noise[:, :, i] for i in range(3))
    data = az.from_dict(posterior={"mu": mu, "tau": tau, "sigma": sigma, "theta": noise[:, :, 3:]})
    path = os.path.join(folder, "arviz.nc")
    data.to_netcdf(path)
    return path


def arviz(path):
    """Seconds of ArviZ: wall, processor."""
    import arviz as az

    wall, used = time.perf_counter(), time.process_time()
    data = az.from_netcdf(path)
    az.summary(data)
    took = time.perf_counter() - wall, time.process_time() - used
    data.close()
    return took


def octopus(program, path):
    """The same of our process."""
    wall = time.perf_counter()
    process = subprocess.Popen([program, "diagnose", path], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 1), program
    return time.perf_counter() - wall, used.ru_utime + used.ru_stime


def main(programs):
    warnings.filterwarnings("ignore")
    with tempfile.TemporaryDirectory() as folder:
        first = make(folder)
        second = os.path.join(folder, "octopus.nc")
        subprocess.run([programs[0], "export", first, "--to", "netcdf", "--out", second], check=True, capture_output=True)
        for path in (first, second):
            took = {name: [] for name in ["ArviZ", *programs]}
            for _ in range(RUNS):
                took["ArviZ"].append(arviz(path))
                for program in programs:
                    took[program].append(octopus(program, path))
            middle = {name: [statistics.median(column) for column in zip(*runs)] for name, runs in took.items()}
            print(f"{os.path.basename(path)}, {os.path.getsize(path) / 1e6:.0f} MB")
            for name, (wall, used) in middle.items():
                walls = [run[0] for run in took[name]]
                ratio = middle["ArviZ"][0] / wall, middle["ArviZ"][1] / used
                print(
                    f"  {name}: {wall:.3f} s ({min(walls):.3f} to {max(walls):.3f}), {used:.3f} s of the processor;"
                    f" ArviZ over it {ratio[0]:.1f}, of the processor {ratio[1]:.1f}"
                )


if __name__ == "__main__":
    main(sys.argv[1:])
