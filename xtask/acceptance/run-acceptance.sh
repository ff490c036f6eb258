#!/usr/bin/env bash
# The GPU acceptance of Octopus: what a machine with an NVIDIA GPU must show, most important first.
#
#   ./run-acceptance.sh [--part 1|2] [RESULTS]   RESULTS defaults to ./results; part 1 wants a new folder,
#                                                part 2 adds to one of part 1
#
# Part 1 is whether it works and how fast it is; part 2 is what takes longer: NumPyro on the same GPU, racecheck and
# the other sanitizers, the whole table of the sampler, ranks. Each fits a command of ten minutes.
#
# Needs the driver and nothing else: no cargo, no toolkit, no network. What is there is used
# (compute-sanitizer, ncu, python3 with jax and numpyro); what is not is said in steps.jsonl.
# Takes at most BUDGET seconds (540 unless set). Exit code: 0 every step passed or was skipped,
# 1 a step failed. `cargo xtask accept RESULTS` judges the folder and makes the report.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")"

BUDGET=${BUDGET:-540}
part=1
if [ "${1:-}" = --part ]; then
    part=${2:-}
    shift 2
fi
results=${1:-results}
case $part in
    1)
        if [ -e "$results" ]; then
            echo "run-acceptance: $results exists: name another folder" >&2
            exit 2
        fi
        mkdir -p "$results" || exit 3
        cp manifest.json "$results/"
        ;;
    2)
        if ! cmp -s manifest.json "$results/manifest.json"; then
            echo "run-acceptance: $results is no folder of part 1 of this bundle" >&2
            exit 2
        fi
        ;;
    *)
        echo "run-acceptance: there is no part $part" >&2
        exit 2
        ;;
esac
results=$(cd "$results" && pwd)
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
# What the driver compiles is kept for the next process, but not beyond this folder: the first load is a cold one.
export CUDA_CACHE_PATH=$PWD/.compute-cache CUDA_CACHE_MAXSIZE=1073741824

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | tail -1)
profiler=$(command -v ncu || ls /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -1)

# sanitize TOOL NAME LIMIT WORDS...: octopus under a tool of compute-sanitizer.
sanitize() {
    local tool=$1 name=$2 limit=$3
    shift 3
    if [ -n "$sanitizer" ]; then
        step "$name" "$limit" "$sanitizer" --tool "$tool" --error-exitcode 9 "$octopus" "$@"
    else
        skip "$name" "no compute-sanitizer on this machine"
    fi
}

# measure NAME LIMIT SECONDS WORDS...: the sampler's figures; NAME.json is whole after each measurement.
measure() {
    local name=$1 limit=$2 seconds=$3
    shift 3
    step "$name" "$limit" "$octopus" device sampler --seconds "$seconds" --out "$results/$name.json" "$@"
}

# The programs that ship, each on the GPU and on the CPU: the tables of draws are the same, byte for byte. Says how long
# either took, start and compilation by the driver included.
programs() {
    local name device differ=0
    for name in $("$octopus" model list --json | sed -n 's/.*"name": "\(.*\)".*/\1/p'); do
        case $name in hierarchical-normal | eight-schools | stan) continue ;; esac
        for device in ${PROGRAM_DEVICES-cuda cpu}; do
            local began=$EPOCHREALTIME
            # 1 says that so few draws should not be used.
            "$octopus" sample "$name" --device "$device" --draws 200 --tune 200 --quiet --force \
                --out "$work/$name-$device" >/dev/null || [ $? = 1 ] || return 1
            "$octopus" export "$work/$name-$device" --to csv --out "$work/$name-$device.csv" --force --quiet \
                >/dev/null || return 1
            echo "$name $device ${began/[.,]/} to ${EPOCHREALTIME/[.,]/} us, $(sha256sum <"$work/$name-$device.csv")"
            cmp "$work/$name-$device.csv" "$work/$name.csv" 2>/dev/null || [ ! -e "$work/$name.csv" ] || differ=1
            cp "$work/$name-$device.csv" "$work/$name.csv"
        done
    done
    return $differ
}

# Floating-point operations and bytes of a launch.
counts=gpu__time_duration.sum,dram__bytes.sum
for operation in dadd dmul dfma fadd fmul ffma; do
    counts=$counts,smsp__sass_thread_inst_executed_op_${operation}_pred_on.sum
done

part_1() {
    step machine 30 bash machine.sh
    step verify 60 "$octopus" verify --json
    step exact 60 "$octopus" device exact --json --expected expected.json
    step exact_runs 240 "$octopus" device exact --runs --json --expected expected-runs.json
    step programs 90 env octopus="$octopus" work="$work" bash -c "$(declare -f programs); programs"
    measure sampler 170 140
    sanitize memcheck memcheck_runs 90 device exact --runs --small
    if [ -n "$profiler" ]; then
        # 4096 chains of the PRD's size while they sample: sections for people, counts for the roofline. The clocks are
        # left alone: the card may be another's, too.
        step ncu_sampler 90 "$profiler" --clock-control none --csv --print-units base --section SpeedOfLight \
            --section Occupancy --section SchedulerStats --section WarpStateStats --section LaunchStats \
            --metrics "$counts" --kernel-name regex:nuts_run --launch-skip 10 --launch-count 3 \
            "$octopus" sample hierarchical-normal --device cuda --strategy many-short --chains 4096 --draws 64 \
            --out "$work/ncu"
    else
        skip ncu_sampler "no ncu on this machine"
    fi
    step validate 120 "$octopus" validate --quick ${REQUIRE_GPU---require-gpu} --out "$work/phase0"
    cp "$work/phase0/report.json" "$results/validate.json" 2>/dev/null
    for suite in arrays random; do
        step "bench_$suite" 60 "$octopus" bench run "$suite" --frameworks octopus --device cpu,cuda:0 --repeats 3 \
            --data-size "${BENCH_SIZES-1024,1000000,4194304}" --out "$work/$suite" --json
    done
    sanitize memcheck memcheck 45 device exact --small
}

part_2() {
    if python3 -c 'import jax, numpyro' 2>/dev/null; then
        # jax takes most of the memory at its start; the program beside it may need some.
        export XLA_PYTHON_CLIENT_PREALLOCATE=false
        for precision in f32 f64; do
            step "numpyro_$precision" 120 python3 peers/numpyro_prd.py --precision "$precision" --seconds 80 \
                --out "$results/numpyro_$precision.json"
        done
    else
        skip numpyro_f32 "python3 has no jax and numpyro here"
        skip numpyro_f64 "python3 has no jax and numpyro here"
    fi
    for tool in racecheck initcheck synccheck; do
        sanitize "$tool" "${tool}_runs" 150 device exact --runs --small
        sanitize "$tool" "$tool" 45 device exact --small
    done
    step costs 60 "$octopus" device measure --json --cache "$work/costs"
    # Ranks of the sampler on the device; on a test double a few data sets of a small model, with a warm-up that is just
    # long enough for chains to arrive.
    if [ -n "${OCTOPUS_SOFTGPU:-}" ]; then
        step ranks 60 "$octopus" calibrate hierarchical-normal --device cuda --groups 10 --datasets 20 --chains 4 \
            --draws 50 --tune 200 --force --json --out "$work/ranks"
    else
        step ranks 60 "$octopus" calibrate hierarchical-normal --device cuda --datasets 1000 --json --out "$work/ranks"
    fi
    # Again, whole: timings that repeat, and what part 1 had no time for.
    measure sampler_again 300 270
}

part_$part
record "total_$part" "$([ $failed -eq 0 ] && echo PASS || echo FAIL)" $SECONDS $failed ""
tar -czf "$results.tar.gz" -C "$(dirname "$results")" "$(basename "$results")"
echo "results: $results and $results.tar.gz"
exit $failed
