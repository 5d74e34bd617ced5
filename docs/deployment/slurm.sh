#!/bin/bash
#SBATCH --job-name=labelworth
#SBATCH --ntasks=16
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=2G
#SBATCH --time=04:00:00
# Fits a model to a folder of shards with as many workers as there are tasks:
#     sbatch slurm.sh /shared/mail-shards /shared/mail.lw [options of labelworth fit]
# The same line again, after a job that was ended, goes on behind the last finished pass.
set -euo pipefail
shards=$1 model=$2
shift 2
# Where all machines see it, and new for every job: the address of another job's scheduler is nobody's.
room=$(mktemp -d "$(dirname "$model")/.labelworth-cluster.XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$room"' EXIT
dask scheduler --scheduler-file "$room/scheduler.json" --no-dashboard --port 0 &
scheduler=$!
srun dask worker --scheduler-file "$room/scheduler.json" --nthreads 1 --no-dashboard --death-timeout 60 &
read_address='import json, sys; print(json.load(open(sys.argv[1]))["address"])'
until address=$(python -c "$read_address" "$room/scheduler.json" 2>/dev/null); do
    kill -0 "$scheduler"  # One that could not start is not waited for.
    sleep 1
done
labelworth fit "$shards" -o "$model" --scheduler "$address" "$@"
