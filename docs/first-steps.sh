#!/bin/sh
# First steps: measure, fit, predict, compare and report, with nothing but the defaults, on an emulated Cray T3D and on
# this machine: by its shared memory, by its loopback and, if mpicc is installed, by its own MPI. It writes its files into
# the current directory.
#
#   sh first-steps.sh [PLATFORM...]
set -e
if [ $# = 0 ]; then
	set -- t3d shm tcp
	if command -v mpicc >/dev/null; then
		set -- "$@" mpi
	fi
fi
for platform; do
	set -x
	loggp measure --platform "$platform" -o "$platform.csv"
	loggp fit "$platform.csv" -o "$platform-params.csv"
	loggp predict --params "$platform-params.csv"
	loggp compare --samples "$platform.csv" --params "$platform-params.csv"
	loggp report "$platform.csv" -o "$platform-report"
	{ set +x; } 2>/dev/null
done
