#!/usr/bin/env bash
# The GPU acceptance of Octopus: what a machine with an NVIDIA GPU must show, most important first.
#
#   ./run-acceptance.sh [RESULTS]      RESULTS defaults to ./results and must not exist
#
# Needs the driver and nothing else: no cargo, no toolkit, no network. What is there is used
# (compute-sanitizer, ncu, python3 with jax and numpyro); what is not is said in steps.jsonl.
# Takes at most BUDGET seconds (540 unless set). Exit code: 0 every step passed or was skipped,
# 1 a step failed. `cargo xtask accept RESULTS` judges the folder and makes the report.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")"

BUDGET=${BUDGET:-540}
results=${1:-results}
if [ -e "$results" ]; then
    echo "run-acceptance: $results exists: name another folder" >&2
    exit 2
fi
mkdir -p "$results" || exit 3
results=$(cd "$results" && pwd)
cp manifest.json "$results/"
failed=0

# A line of steps.jsonl. Names and reasons are ours: nothing in them needs escaping.
record() { # name status seconds code reason
    printf '{"step": "%s", "status": "%s", "seconds": %s, "code": %s, "reason": "%s"}\n' "$@" >>"$results/steps.jsonl"
    printf '%-8s %-14s %4s s  %s\n' "$2" "$1" "$3" "$5"
}

# step NAME LIMIT COMMAND...: its output goes to NAME.out and NAME.err; SECONDS left limit it further.
step() {
    local name=$1 limit=$2 left=$((BUDGET - SECONDS)) began=$SECONDS code
    shift 2
    if [ "$left" -lt 5 ]; then
        record "$name" SKIPPED 0 null "no time left of $BUDGET s"
        return
    fi
    [ "$limit" -lt "$left" ] || limit=$left
    timeout --kill-after=10 "$limit" "$@" >"$results/$name.out" 2>"$results/$name.err"
    code=$?
    case $code in
        0) record "$name" PASS $((SECONDS - began)) 0 "" ;;
        124 | 137) failed=1; record "$name" FAIL $((SECONDS - began)) $code "not done after $limit s" ;;
        *) failed=1; record "$name" FAIL $((SECONDS - began)) $code "exit code $code, see $name.err" ;;
    esac
}

skip() { record "$1" SKIPPED 0 null "$2"; }

octopus=$PWD/octopus
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step machine 30 bash machine.sh
step verify 90 "$octopus" verify --json
step exact 90 "$octopus" device exact --json --expected expected.json

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | tail -1)
for tool in memcheck racecheck initcheck synccheck; do
    if [ -n "$sanitizer" ]; then
        step "$tool" 45 "$sanitizer" --tool "$tool" --error-exitcode 9 "$octopus" device exact --small
    else
        skip "$tool" "no compute-sanitizer on this machine"
    fi
done

step benchmark 90 "$octopus" device benchmark --json
step calibrate 60 "$octopus" device calibrate --json --cache "$work/calibration"
step validate 120 "$octopus" validate --quick --out "$work/phase0"
cp "$work/phase0/report.json" "$results/validate.json" 2>/dev/null

profiler=$(command -v ncu || ls /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -1)
if [ -n "$profiler" ]; then
    step ncu 60 "$profiler" --csv --section SpeedOfLight --section Occupancy --launch-count 20 "$octopus" device exact --small
else
    skip ncu "no ncu on this machine"
fi

if python3 -c 'import jax, numpyro' 2>/dev/null; then
    for precision in f32 f64; do
        step "numpyro_$precision" 60 python3 peers/numpyro_prd.py --precision "$precision" --out "$results/numpyro_$precision.json"
    done
else
    skip numpyro_f32 "python3 has no jax and numpyro here"
    skip numpyro_f64 "python3 has no jax and numpyro here"
fi

record total "$([ $failed -eq 0 ] && echo PASS || echo FAIL)" $SECONDS $failed ""
tar -czf "$results.tar.gz" -C "$(dirname "$results")" "$(basename "$results")"
echo "results: $results and $results.tar.gz"
exit $failed
