// What a process has one of: streams, options, clocks, the end, global variables.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int global = 5;

__attribute__((constructor)) static void begin(void) { global = 7; }
__attribute__((destructor)) static void end(void) { printf("destructor: %d\n", global); }
static void last(void) { printf("atexit\n"); }

int main(int argc, char **argv) {
	int rank, option, n = 0;
	atexit(last);
	while ((option = getopt(argc, argv, "n:v")) != -1)
		if (option == 'n') n = atoi(optarg);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	global += rank;
	struct timespec from, to;
	clock_gettime(CLOCK_MONOTONIC, &from);
	usleep(1000);
	clock_gettime(CLOCK_MONOTONIC, &to);
	for (int turn = 0; turn < 2; turn++) {
		if (turn == rank) {
			fprintf(stdout, "%d: option %d, then %s, global %d, slept %ld ns\n", rank, n, argv[optind], global, to.tv_nsec - from.tv_nsec);
			fprintf(stderr, "%d: error\n", rank);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
