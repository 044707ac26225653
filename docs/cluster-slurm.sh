#!/bin/sh
# Measure a cluster under Slurm: the installed MPI between two nodes and within one, loggp's own library over TCP, all pairs
# of ranks, and collective operations. It writes samples and pages into the current directory, which all nodes must share,
# as they must the path of loggp.
#
#   sbatch --nodes 4 --ntasks-per-node 8 cluster-slurm.sh
#
# LOGGP_MEASURE has further flags for each measurement, such as --quick or '--budget 30s'. SRUN_MPI is the srun --mpi of the
# installed MPI, such as pmix, where it is not the default.
#SBATCH --job-name=loggp
#SBATCH --time=01:00:00
set -eu
ranks=$SLURM_NTASKS
nodes=$SLURM_JOB_NUM_NODES
two=$((nodes < 2 ? nodes : 2))
run="srun ${SRUN_MPI:+--mpi=$SRUN_MPI}"
export TMPDIR="$PWD/tmp" # the compiled benchmark is there
mkdir -p "$TMPDIR"
measure="loggp measure ${LOGGP_MEASURE:-}"

set -x
$measure --platform mpi --launcher "$run -N $two -n 2" -o two-hosts.csv
$measure --platform mpi --launcher "$run -N 1 -n 2" -o one-host.csv
srun --mpi=pmi2 -N $two -n 2 $measure --platform tcp -o tcp.csv
$measure --platform shm -o shm.csv
$measure --platform mpi --pairs all -n "$ranks" --launcher "$run -n $ranks" -o pairs.csv
$measure --platform mpi --collective bcast,allreduce,alltoall -n "$ranks" --launcher "$run -n $ranks" -o collectives.csv

loggp report two-hosts.csv tcp.csv -o between-hosts
loggp report one-host.csv shm.csv -o within-host
loggp report pairs.csv -o pairs
loggp report collectives.csv -o collectives
