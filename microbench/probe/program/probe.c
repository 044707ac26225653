/*
 * probe is the worker of the MPI that it is compiled with, as package microbench has workers of this library: it does what the scheduler's commands say,
 * between two ranks, P1 (rank 0) and P2, or collective operations by any number of ranks. What is measured, how often, and when it ends is decided by the
 * scheduler. It is C99 with POSIX clocks and sockets, and needs nothing but MPI.
 *
 *	mpirun -n 2 probe DIRECTORY SECONDS 2
 *
 * Rank 0 connects to the scheduler as the file connect of the directory says. All numbers on the connection are of 64 bits. A command is nine of them: what
 * to do, and the fields of microbench.Command. An answer is its kind, its length in bytes and that many bytes: a text, or numbers. The first answer is a text
 * without a command: where the ranks are. Until the first command, and when they rest, ranks sleep, so that others can be measured; else they poll, so that
 * they stay warm. Whatever happens, a rank ends if it hears nothing for so many seconds.
 *
 * All of it is compiled in one piece. In the order in which it is to be read:
 */
#define _POSIX_C_SOURCE 200809L

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <mpi.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

static int rank, ranks, p1;
static int peer; /* of two */
static MPI_Comm comm, meeting; /* messages that are measured; all others */

enum { TAG = 1, ORDER, SAMPLES };

/* command is what all ranks do next. */
struct command {
	int64_t what;                  /* DO, or one of those below */
	int64_t stage, mode, algorithm, bytes;
	int64_t warm, rounds;          /* that do not count, and that do */
	int64_t batch, wait;           /* operations in a sample; ps */
};

enum { DO = 1, REST, VARIABLES, END };
enum { MOST_ROUNDS = 4096, LONGEST = 1 << 28 /* bytes of a message */ };

#include "connection.c"
#include "clock.c"
#include "place.c"      /* where the ranks are */
#include "calls.c"      /* what is timed */
#include "stages.c"     /* the timers */
#ifdef COLLECTIVES      /* a pair of ranks does without them, which is a third less to compile */
#include "operations.c" /* collective ones */
#include "rounds.c"     /* and how they begin */
#endif
#include "work.c"       /* a fixed piece of work */
#include "library.c"    /* what the library says of itself */

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
}

/* next gets a command to all ranks. */
static struct command next(int hot)
{
	struct command c;
	int r, there = 0;

	if (p1) {
		receive_all(&c, sizeof c, hot);
		for (r = 1; r < ranks; r++)
			MPI_Send(&c, sizeof c, MPI_BYTE, r, ORDER, meeting);
	} else {
		while (!hot && (MPI_Iprobe(0, ORDER, meeting, &there, MPI_STATUS_IGNORE), !there))
			doze();
		MPI_Recv(&c, sizeof c, MPI_BYTE, 0, ORDER, meeting, MPI_STATUS_IGNORE);
	}
	alarm(patience);
	return c;
}

/* answer_times sends the times of all columns, one after the other, and how long the work took each rank. */
static void answer_times(int64_t took, int64_t work, const int64_t *const *columns, const int64_t *n, int count)
{
	int64_t *works = room(8 * (size_t)ranks), *all, *at;
	size_t numbers = 4 + (size_t)ranks;
	int i;

	MPI_Gather(&work, 8, MPI_BYTE, works, 8, MPI_BYTE, 0, meeting);
	if (p1) {
		for (i = 0; i < count; i++)
			numbers += 1 + (size_t)n[i];
		at = all = room(8 * numbers);
		*at++ = round_took;
		*at++ = took;
		*at++ = ranks;
		memcpy(at, works, 8 * (size_t)ranks);
		at += ranks;
		*at++ = count;
		for (i = 0; i < count; i++) {
			*at++ = n[i];
			memcpy(at, columns[i], 8 * (size_t)n[i]);
			at += n[i];
		}
		answer_with(NUMBERS, all, 8 * numbers);
		free(all);
	}
	free(works);
}

/* measure does what a command of a stage says. */
static void measure(const struct command *c)
{
	int64_t before, begin, took;
	const int64_t *columns[TIMERS * 2];
	int64_t n[TIMERS * 2];
	int timer, root, count = 0;

	if (c->rounds < 0 || c->rounds > MOST_ROUNDS || c->warm < 0 || c->batch < 1 || c->bytes < 0 || c->bytes > LONGEST)
		fail("a command of %" PRId64 " rounds of %" PRId64 " bytes is none", c->rounds, c->bytes);
#ifdef COLLECTIVES
	if (c->stage >= BEHIND_BARRIER) {
		perform(c);
		return;
	}
#endif
	prepare(c);
	before = work_took();
	begin = now();
	run_stage(c);
	took = now() - begin;
	before = longer(before, work_took());
	take_back();
	bring(c);
	for (timer = 0; c->rounds > 0 && timer < stages[c->stage].timers; timer++)
		for (root = 0; root < 2; root++, count++) {
			columns[count] = taken.times[timer][root];
			n[count] = taken.n[timer][root];
		}
	answer_times(took * 1000, before * 1000, columns, n, count);
}

int main(int argc, char **argv)
{
	struct command c;
	int hot = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: probe DIRECTORY SECONDS RANKS\n");
		return 2;
	}
	directory = argv[1];
	patience = (unsigned)strtoul(argv[2], NULL, 10);
	alarm(patience);
	start(&argc, &argv, atoi(argv[3]));
	if (p1) {
		open_connection();
		answer_text(write_facts);
	}
	for (c = next(hot); c.what != END; c = next(hot)) {
		hot = c.what == DO;
		if (c.what == DO)
			measure(&c);
		else if (c.what == VARIABLES && p1)
			answer_text(write_variables);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
