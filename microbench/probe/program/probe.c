/*
 * probe measures the MPI that it is compiled with, as package microbench measures ours: the same timers in the same order, between two ranks, P1
 * (rank 0) and P2, or of collective operations of any number of ranks. It is C99 with POSIX clocks, and needs nothing but MPI.
 *
 *	mpirun -n 2 probe DIRECTORY SECONDS 2
 *
 * When all ranks are there P1 says so in the file ready, and waits for plan.0. It measures the cells of the plan, writes result.0, and waits for plan.1,
 * until a plan has no cells: all of them as package probe describes them. Who waits sleeps, so that others can be measured meanwhile. What
 * goes wrong is said on standard error and, since launchers lose the last words of those that abort, in the file failed. Whatever happens, a rank
 * ends if it hears nothing for so many seconds.
 *
 * All of it is compiled in one piece. In the order in which it is to be read:
 */
#ifdef __linux__
#define _GNU_SOURCE /* sched_getaffinity */
#else
#define _POSIX_C_SOURCE 200112L
#endif

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <mpi.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks, p1;
static int peer; /* of two */
static MPI_Comm comm, meeting; /* messages that are measured; all others */

enum { TAG = 1, ORDER, SAMPLES };

#include "files.c"  /* the directory, and memory */
#include "clock.c"
#include "place.c"  /* where the ranks are */
#ifdef COLLECTIVES         /* a pair of ranks does without them, which is a third less to compile */
#include "operations.c" /* collective ones */
#endif
#include "plan.c"
#include "calls.c"  /* what is timed */
#include "stages.c" /* the timers */
#include "pace.c"   /* how quickly processors work */
#include "orders.c" /* what both ranks do next */
#include "judge.c"  /* how well a median is known */
#include "lead.c"   /* what P1 orders */
#include "library.c" /* what it says of itself */
#include "result.c"
#ifdef COLLECTIVES
#include "ensemble.c" /* collective operations: what all ranks do */
#include "conduct.c"  /* what P1 lets them do */
#endif

/* start starts MPI. */
static void start(int *argc, char ***argv, int wanted)
{
	MPI_Init(argc, argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (ranks != wanted)
		fail("it was started with a world of size %d, and needs one of %d: does the launcher start as many (of collective operations, as --ranks says), and is it of the compiler's MPI?", ranks, wanted);
	p1 = rank == 0;
	peer = 1 - rank;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_dup(MPI_COMM_WORLD, &meeting);
	find_places();
	if (p1)
		write_file("ready", 0, write_places);
}

/* measure measures what the plan of that number says. */
static void measure(int n)
{
#ifdef COLLECTIVES
	if (plan.collective) {
		perform(n);
		return;
	}
#endif
	if (p1) {
		lead();
		write_file("result", n, write_result);
	} else {
		follow();
	}
	forget();
}

/* serve measures what plans say, until one says nothing. Then the library is asked for its variables, if they are wanted: that may open more of it. */
static void serve(void)
{
	int n;

	for (n = 0; next_plan(n); n++) {
		measure(n);
		free(cells);
	}
	if (p1 && plan.variables)
		write_file("variables", 0, write_variables);
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: probe DIRECTORY SECONDS RANKS\n");
		return 2;
	}
	directory = argv[1];
	patience = (unsigned)strtoul(argv[2], NULL, 10);
	alarm(patience);
	start(&argc, &argv, atoi(argv[3]));
	serve();
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
