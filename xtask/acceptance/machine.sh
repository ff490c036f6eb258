#!/usr/bin/env bash
# What this machine is. No serial numbers, user or host names: the report is public.
set -u
date -u +%Y-%m-%dT%H:%M:%SZ
uname -srm
lscpu | grep -E '^(Model name|CPU\(s\)|Thread|Core|Socket|NUMA node\(s\))'
grep -E '^Mem(Total|Available)' /proc/meminfo
if command -v nvidia-smi >/dev/null; then
    fields=name,driver_version,memory.total,memory.free,pstate,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem
    fields=$fields,power.draw,power.limit,temperature.gpu,ecc.mode.current,mig.mode.current,compute_mode,persistence_mode
    nvidia-smi --format=csv --query-gpu="$fields"
else
    echo "nvidia-smi: not here"
fi
./octopus --version
