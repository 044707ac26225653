#!/bin/sh
# Measure a cluster with mpirun, of Open MPI or MPICH: the installed MPI between two hosts and within one, loggp's own library over
# TCP, all pairs of ranks, and collective operations. It writes samples and pages into the current directory, which all
# hosts must share, as they must the path of loggp.
#
#   sh cluster-mpirun.sh RANKS [ARGUMENTS OF mpirun, such as --hostfile hosts]
#
# LOGGP_MEASURE has further flags for each measurement, such as --quick or '--budget 30s'.
set -eu
ranks=$1
shift
run="mpirun $*"
if mpirun --version | grep -q 'Open MPI'; then
	across="--map-by node"
else
	across="-ppn 1"
fi
export TMPDIR="$PWD/tmp" # the compiled benchmark is there
mkdir -p "$TMPDIR"
measure="loggp measure ${LOGGP_MEASURE:-}"

set -x
$measure --platform mpi --launcher "$run -n 2 $across" -o two-hosts.csv
$measure --platform mpi --launcher "$run -n 2" -o one-host.csv
$run -n 2 $across $measure --platform tcp --shared-dir "$TMPDIR" -o tcp.csv
$measure --platform shm -o shm.csv
$measure --platform mpi --pairs all -n "$ranks" --launcher "$run -n $ranks" -o pairs.csv
$measure --platform mpi --collective bcast,allreduce,alltoall -n "$ranks" --launcher "$run -n $ranks" -o collectives.csv

loggp report two-hosts.csv tcp.csv -o between-hosts
loggp report one-host.csv shm.csv -o within-host
loggp report pairs.csv -o pairs
loggp report collectives.csv -o collectives
