/*
 * probe is the worker of the MPI that it is compiled with, as package microbench has workers of this library: it does what the scheduler's commands say,
 * between two ranks, P1 and P2, or collective operations by any number of ranks. What is measured, how often, and when it ends is decided by the
 * scheduler. It is C99 with POSIX clocks and sockets, and needs nothing but MPI.
 *
 *	mpirun -n 2 probe DIRECTORY SECONDS 2
 *
 * Rank 0 connects to the scheduler as the file connect of the directory says. All numbers on the connection are of 64 bits. A command is eleven of them:
 * what to do, and the fields of microbench.Command. An answer is its kind, its length in bytes and that many bytes: a text, or numbers. The first answer is a text
 * without a command: where the ranks are. Until the first command, and when they rest, ranks sleep, so that others can be measured; else they poll, so that
 * they stay warm. Of a pair's commands the other ranks are not told. Whatever happens, a rank ends if it hears nothing for so many seconds.
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

static int rank, ranks;
static int p1, peer; /* of the pair that measures */
static MPI_Comm comm, meeting; /* messages that are measured; all others */

enum { TAG = 1, ORDER, SAMPLES, WORK, ANSWER };

/* command is what all ranks do next. */
struct command {
	int64_t what;                  /* DO, or one of those below */
	int64_t stage, mode, algorithm, bytes;
	int64_t warm, rounds;          /* that do not count, and that do */
	int64_t batch, wait;           /* operations in a sample; ps */
	int64_t first, second;         /* ranks that are P1 and P2; if they are the same, 0 and 1, or all ranks of a collective operation */
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
		fail("it was started with a world of size %d, and needs one of %d: does the launcher start as many (as --ranks says), and is it of the compiler's MPI?", ranks, wanted);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_dup(MPI_COMM_WORLD, &meeting);
	find_places();
}

/* concerns says whether a rank is told of a command. */
static int concerns(const struct command *c, int r)
{
	return c->what != DO || c->first == c->second || r == c->first || r == c->second;
}

/* next gets a command to the ranks that it concerns. */
static struct command next(int hot)
{
	struct command c;
	int r, there = 0;

	if (rank == 0) {
		receive_all(&c, sizeof c, hot);
		if (c.first < 0 || c.first > c.second || c.second >= ranks)
			fail("a command of ranks %" PRId64 " and %" PRId64 " of %d", c.first, c.second, ranks);
		for (r = 1; r < ranks; r++)
			if (concerns(&c, r))
				MPI_Send(&c, sizeof c, MPI_BYTE, r, ORDER, meeting);
	} else {
		while (!hot && (MPI_Iprobe(0, ORDER, meeting, &there, MPI_STATUS_IGNORE), !there))
			doze();
		MPI_Recv(&c, sizeof c, MPI_BYTE, 0, ORDER, meeting, MPI_STATUS_IGNORE);
	}
	alarm(patience);
	return c;
}

/* hand_over sends numbers to the scheduler from rank 0, to which they come from rank from. */
static void hand_over(int64_t *all, int n, int from)
{
	MPI_Status status;

	if (rank != 0) {
		MPI_Send(all, 8 * n, MPI_BYTE, 0, ANSWER, meeting);
		return;
	}
	if (from != 0) {
		MPI_Probe(from, ANSWER, meeting, &status);
		MPI_Get_count(&status, MPI_BYTE, &n);
		n /= 8;
		all = room(8 * (size_t)n);
		MPI_Recv(all, 8 * n, MPI_BYTE, from, ANSWER, meeting, MPI_STATUS_IGNORE);
	}
	answer_with(NUMBERS, all, 8 * (size_t)n);
	if (from != 0)
		free(all);
}

/* answer_times answers with the times of all columns, one after the other, and how long the work took each of some ranks. */
static void answer_times(int64_t took, const int64_t *works, int workers, const int64_t *const *columns, const int64_t *n, int count)
{
	int64_t *all, *at;
	size_t numbers = 4 + (size_t)workers;
	int i;

	for (i = 0; i < count; i++)
		numbers += 1 + (size_t)n[i];
	at = all = room(8 * numbers);
	*at++ = round_took;
	*at++ = took;
	*at++ = workers;
	memcpy(at, works, 8 * (size_t)workers);
	at += workers;
	*at++ = count;
	for (i = 0; i < count; i++) {
		*at++ = n[i];
		memcpy(at, columns[i], 8 * (size_t)n[i]);
		at += n[i];
	}
	hand_over(all, (int)numbers, rank);
	free(all);
}

/* measure does what a command of a stage says. */
static void measure(const struct command *c)
{
	int64_t before, begin, took, works[2];
	const int64_t *columns[TIMERS * 2];
	int64_t n[TIMERS * 2];
	int timer, root, first, second, count = 0;

	if (c->rounds < 0 || c->rounds > MOST_ROUNDS || c->warm < 0 || c->batch < 1 || c->bytes < 0 || c->bytes > LONGEST)
		fail("a command of %" PRId64 " rounds of %" PRId64 " bytes is none", c->rounds, c->bytes);
#ifdef COLLECTIVES
	if (c->stage >= BEHIND_BARRIER) {
		perform(c);
		return;
	}
#endif
	first = c->first == c->second ? 0 : (int)c->first;
	second = c->first == c->second ? 1 : (int)c->second;
	if (rank != first && rank != second) { /* rank 0, which passes the answer on */
		hand_over(NULL, 0, first);
		return;
	}
	p1 = rank == first;
	peer = p1 ? second : first;
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
	works[0] = before * 1000;
	if (!p1) {
		MPI_Send(works, 8, MPI_BYTE, peer, WORK, meeting);
		return;
	}
	MPI_Recv(works + 1, 8, MPI_BYTE, peer, WORK, meeting, MPI_STATUS_IGNORE);
	answer_times(took * 1000, works, 2, columns, n, count);
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
	if (rank == 0) {
		open_connection();
		answer_text(write_facts);
	}
	for (c = next(hot); c.what != END; c = next(hot)) {
		hot = c.what == DO;
		if (c.what == DO)
			measure(&c);
		else if (c.what == VARIABLES && rank == 0)
			answer_text(write_variables);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
