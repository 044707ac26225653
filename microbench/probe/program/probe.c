/*
 * probe measures the MPI that it is compiled with, as package microbench measures ours: the same timers in the same order, between two ranks, P1
 * (rank 0) and P2. It is C99 with POSIX clocks, and needs nothing but MPI.
 *
 *	mpirun -n 2 probe PLAN RESULT SECONDS
 *
 * P1 reads the plan, measures its cells in their order, and writes the result, both as package probe describes them. What goes wrong is said on
 * standard error and, since launchers lose the last words of those that abort, in the file RESULT.failed. Whatever happens, a rank ends after so
 * many seconds. Nothing is read, written or allocated while something is measured.
 */
#ifdef __linux__
#define _GNU_SOURCE /* sched_getaffinity */
#include <sched.h>
#else
#define _POSIX_C_SOURCE 200112L
#endif

#include <ctype.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	TAG = 1,
	BURST = 32,           /* microbench.Burst */
	FEWER = 4,            /* by how much less often the timers are repeated that are not the paper's */
	BATCH = 64,           /* round trips in one sample, at most */
	ENOUGH = 10000,       /* ns that a sample of round trips should last, or the clock shows too little of it */
	SERIES = 8,           /* of a cell, at most */
	CELLS = 1 << 16,
	LONGEST = 1 << 28,    /* bytes of a message */
	REPS = 1000000
};

static const char *result;
static int rank, p1, peer;
static MPI_Comm comm, meeting; /* messages; barriers */

static void fail(const char *format, ...)
{
	char text[2048], path[4096];
	va_list args;
	FILE *f;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	fprintf(stderr, "loggp-probe: %s\n", text); /* in one piece, as ranks share it */
	fflush(stderr);
	if (result != NULL && snprintf(path, sizeof path, "%s.failed", result) < (int)sizeof path && (f = fopen(path, "w")) != NULL) {
		fprintf(f, "loggp-probe: %s\n", text);
		fclose(f);
	}
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

static void *room(size_t n)
{
	void *p = NULL;

	if (posix_memalign(&p, 4096, n > 0 ? n : 1) != 0)
		fail("no memory for %zu bytes", n);
	memset(p, 1, n); /* so that no page is missing later */
	return p;
}

/* ---- the clock ---- */

static int64_t cost;       /* ps: of reading the clock once */
static int64_t resolution; /* ps: of what it shows */

static inline int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t divisor(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* calibrate reads the clock again and again: all its steps are multiples of its resolution, and the quickest round is what reading costs. */
static void calibrate(void)
{
	enum { ROUNDS = 20, READINGS = 1000 };
	int64_t steps[READINGS], step = 0, begin, last, took;
	int i, k;

	cost = INT64_MAX;
	for (i = 0; i < ROUNDS; i++) {
		begin = last = now();
		for (k = 0; k < READINGS; k++) {
			int64_t t = now();
			steps[k] = t - last;
			last = t;
		}
		took = (last - begin) * 1000 / READINGS;
		cost = took < cost ? took : cost;
		for (k = 0; k < READINGS; k++)
			step = divisor(step, steps[k]);
	}
	resolution = (step > 0 ? step : 1) * 1000;
}

/* elapsed is the time, in ps, of one of n things that took from begin to end, without that of reading the clock. */
static int64_t elapsed(int64_t begin, int64_t end, int n)
{
	int64_t t = (end - begin) * 1000 - cost;

	return t > 0 ? (t + n / 2) / n : 0; /* what is shorter than the clock can tell */
}

/* ---- the plan ---- */

struct mode {
	const char *name;
	int blocking, ready, buffered, bursts;
	int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
	int (*start)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
};

static const struct mode modes[] = {
	{"send", 1, 0, 0, 1, MPI_Send, NULL},   {"ssend", 1, 0, 0, 0, MPI_Ssend, NULL},
	{"rsend", 1, 1, 0, 0, MPI_Rsend, NULL}, {"bsend", 1, 0, 1, 0, MPI_Bsend, NULL},
	{"isend", 0, 0, 0, 1, NULL, MPI_Isend}, {"issend", 0, 0, 0, 0, NULL, MPI_Issend},
	{"irsend", 0, 1, 0, 0, NULL, MPI_Irsend}, {"ibsend", 0, 0, 1, 0, NULL, MPI_Ibsend},
};
enum { MODES = sizeof modes / sizeof *modes };

struct plan {
	int reps, warmup, cells;
	int64_t delta; /* ns; 0: twice the median round of the warm-up */
};

struct cell { int mode, bytes; };

static struct plan plan;
static struct cell *cells;

static int find_mode(const char *name)
{
	int m;

	for (m = 0; m < MODES; m++)
		if (strcmp(modes[m].name, name) == 0)
			return m;
	fail("the plan has a mode %s, which is none", name);
	return 0;
}

static void read_plan(const char *path)
{
	FILE *f = fopen(path, "r");
	char name[16];
	int i;

	if (f == NULL)
		fail("cannot read the plan %s: the first rank must be where it can; let TMPDIR be a directory that all hosts share", path);
	if (fscanf(f, "loggp-plan 1 reps %d warmup %d delta %" SCNd64 " cells %d", &plan.reps, &plan.warmup, &plan.delta, &plan.cells) != 4 ||
	    plan.reps < 1 || plan.reps > REPS || plan.warmup < 0 || plan.warmup > REPS || plan.delta < 0 || plan.cells < 1 || plan.cells > CELLS)
		fail("the plan is not one");
	cells = room(plan.cells * sizeof *cells);
	for (i = 0; i < plan.cells; i++) {
		if (fscanf(f, "%15s %d", name, &cells[i].bytes) != 2 || cells[i].bytes < 0 || cells[i].bytes > LONGEST)
			fail("the plan has no cell %d", i);
		cells[i].mode = find_mode(name);
	}
	fclose(f);
}

static void share_plan(const char *path)
{
	if (p1)
		read_plan(path);
	MPI_Bcast(&plan, sizeof plan, MPI_BYTE, 0, comm);
	if (!p1)
		cells = room(plan.cells * sizeof *cells);
	MPI_Bcast(cells, plan.cells * (int)sizeof *cells, MPI_BYTE, 0, comm);
}

/* ---- samples ---- */

struct series {
	const char *timer;
	int cell, mine, n;
	int64_t *times;
};

static struct series *all;
static int used;
static int64_t *store, stored;

/* series returns that of a timer in a cell, which P1 or P2 takes. */
static struct series *series(int cell, const char *timer, int at_p1, int most)
{
	struct series *s;
	int i;

	for (i = used - 1; i >= 0 && all[i].cell == cell; i--)
		if (strcmp(all[i].timer, timer) == 0)
			return &all[i];
	s = &all[used++];
	s->timer = timer;
	s->cell = cell;
	s->mine = at_p1 == p1;
	s->n = 0;
	s->times = store + stored;
	stored += most;
	return s;
}

static void add(struct series *s, int64_t t)
{
	if (s->mine)
		s->times[s->n] = t;
	s->n++;
}

/* ---- measuring ---- */

static struct {
	int number, bytes, root;
	const struct mode *mode;
	int64_t delta; /* ns */
	int64_t trip;  /* ns: a round trip, about */
} at;

static char *out, *in;
static int64_t *rounds; /* of the warm-up */

static int once_of(int fewer) { return plan.reps / fewer > 1 ? plan.reps / fewer : 1; }

/* barrier is the tree of package impl/mpi, of two: a message to the root and one back, so that the root leaves first. */
static void barrier(void)
{
	if (rank == at.root) {
		MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG, meeting, MPI_STATUS_IGNORE);
		MPI_Send(NULL, 0, MPI_BYTE, peer, TAG, meeting);
	} else {
		MPI_Send(NULL, 0, MPI_BYTE, peer, TAG, meeting);
		MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG, meeting, MPI_STATUS_IGNORE);
	}
}

/* pause lets P1 wait, outside of MPI, until whatever is under way has surely arrived. */
static void pause_p1(void)
{
	int64_t end = now() + at.delta;

	while (now() < end)
		;
}

static inline MPI_Request send(void)
{
	MPI_Request r = MPI_REQUEST_NULL;

	if (at.mode->blocking)
		at.mode->send(out, at.bytes, MPI_BYTE, peer, TAG, comm);
	else
		at.mode->start(out, at.bytes, MPI_BYTE, peer, TAG, comm, &r);
	return r;
}

static inline MPI_Request post(void)
{
	MPI_Request r;

	MPI_Irecv(in, at.bytes, MPI_BYTE, peer, TAG, comm, &r);
	return r;
}

static inline MPI_Request receive(void)
{
	if (!at.mode->blocking)
		return post();
	MPI_Recv(in, at.bytes, MPI_BYTE, peer, TAG, comm, MPI_STATUS_IGNORE);
	return MPI_REQUEST_NULL;
}

static void complete(MPI_Request r)
{
	if (r != MPI_REQUEST_NULL)
		MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static int64_t timed_send(void)
{
	int64_t begin, end;
	MPI_Request r;

	barrier();
	begin = now();
	r = send();
	end = now();
	complete(r);
	return elapsed(begin, end, 1);
}

/* timed_receive posts the receive of a ready send before the barrier, and times its two parts. */
static int64_t timed_receive(int wait)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int64_t begin, end, t = 0;

	if (at.mode->ready) {
		begin = now();
		r = post();
		end = now();
		t = elapsed(begin, end, 1);
	}
	barrier();
	if (wait)
		pause_p1();
	if (!at.mode->ready) {
		begin = now();
		r = receive();
		end = now();
		t = elapsed(begin, end, 1);
	} else if (at.mode->blocking) {
		begin = now();
		complete(r);
		end = now();
		return t + elapsed(begin, end, 1);
	}
	complete(r);
	return t;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* warm_up ends with what a round, of six messages one after the other, says of how long to wait. */
static void warm_up(void)
{
	int n = plan.warmup > 1 ? plan.warmup : 1, i;
	int64_t begin, round;

	at.delta = plan.delta;
	for (i = 0; i < n; i++) {
		begin = now();
		if (p1) {
			timed_send();
			timed_receive(1);
		} else {
			timed_receive(0);
			timed_send();
		}
		rounds[i] = now() - begin - at.delta;
	}
	qsort(rounds, n, sizeof *rounds, by_time);
	round = rounds[n / 2];
	at.trip = round / 3;
	if (plan.delta == 0)
		at.delta = 2 * round;
}

static void ping_pong(void)
{
	struct series *t11 = series(at.number, "timer11", 1, 2 * plan.reps), *t12 = series(at.number, "timer12", 1, 2 * plan.reps);
	struct series *t21 = series(at.number, "timer21", 0, 2 * plan.reps), *t22 = series(at.number, "timer22", 0, 2 * plan.reps);
	int64_t first, second;
	int i;

	warm_up();
	for (i = 0; i < plan.reps; i++) {
		if (p1) {
			first = timed_send();
			second = timed_receive(1);
		} else {
			first = timed_receive(0);
			second = timed_send();
		}
		add(t11, first);
		add(t12, second);
		add(t21, first);
		add(t22, second);
	}
}

/* idle_send times the send call once more, after a wait; P2 is in its receive. */
static void idle_send(void)
{
	int n = once_of(FEWER), i;
	struct series *s = series(at.number, "idle", 1, 2 * n);
	int64_t begin, end;
	MPI_Request r;

	for (i = 0; i < n; i++) {
		if (!p1) {
			timed_receive(0);
			add(s, 0);
			continue;
		}
		barrier();
		pause_p1();
		begin = now();
		r = send();
		end = now();
		complete(r);
		add(s, elapsed(begin, end, 1));
	}
}

/* round_trip times blocking sends and receives of answers as long; a sample is the mean of a few, if they are short. */
static void round_trip(void)
{
	int n = once_of(FEWER), batch = 1, i, k;
	struct series *s;
	int64_t begin;

	if (!at.mode->blocking || at.mode->ready)
		return;
	s = series(at.number, "rtt", 1, 2 * n);
	if (p1) {
		batch = (int)(ENOUGH / (at.trip > 1 ? at.trip : 1));
		batch = batch < 1 ? 1 : batch > BATCH ? BATCH : batch;
	}
	MPI_Bcast(&batch, 1, MPI_INT, 0, comm);
	for (i = 0; i < n; i++) {
		barrier();
		if (!p1) {
			for (k = 0; k < batch; k++) {
				receive();
				send();
			}
			add(s, 0);
			continue;
		}
		pause_p1();
		begin = now();
		for (k = 0; k < batch; k++) {
			send();
			receive();
		}
		add(s, elapsed(begin, now(), batch));
	}
}

/* train times a burst: the mean interval between the ends of consecutive sends. */
static void train(void)
{
	int n = once_of(4 * FEWER), i, k;
	struct series *s;
	MPI_Request sent[BURST];
	int64_t first = 0;

	if (n < 10)
		n = plan.reps < 10 ? plan.reps : 10;
	if (!at.mode->bursts)
		return;
	s = series(at.number, "train", 1, 2 * n);
	for (i = 0; i < n; i++) {
		barrier();
		if (!p1) {
			for (k = 0; k < BURST; k++)
				complete(receive());
			add(s, 0);
			continue;
		}
		pause_p1();
		for (k = 0; k < BURST; k++) {
			sent[k] = send();
			if (k == 0)
				first = now();
		}
		add(s, elapsed(first, now(), BURST - 1));
		for (k = 0; k < BURST; k++)
			complete(sent[k]);
	}
}

static void (*const stages[])(void) = {ping_pong, idle_send, round_trip, train};

static void measure(int number)
{
	int64_t needed;
	int stage, lent = 0;
	char *buffer = NULL;

	at.number = number;
	at.bytes = cells[number].bytes;
	at.mode = &modes[cells[number].mode];
	if (at.mode->buffered) { /* a message may not have left it when the next one comes */
		needed = 4 * ((int64_t)at.bytes + MPI_BSEND_OVERHEAD);
		lent = needed < INT32_MAX ? (int)needed : INT32_MAX;
		buffer = room(lent);
		MPI_Buffer_attach(buffer, lent);
	}
	for (stage = 0; stage < (int)(sizeof stages / sizeof *stages); stage++)
		for (at.root = 0; at.root < 2; at.root++)
			stages[stage]();
	if (at.mode->buffered) {
		MPI_Buffer_detach(&buffer, &lent);
		free(buffer);
	}
}

static void measure_all(void)
{
	int64_t samples = 2 * (4 * (int64_t)plan.reps + 2 * once_of(FEWER) + (once_of(4 * FEWER) > 10 ? once_of(4 * FEWER) : 10));
	int longest = 0, i;

	for (i = 0; i < plan.cells; i++)
		longest = cells[i].bytes > longest ? cells[i].bytes : longest;
	out = room(longest);
	in = room(longest);
	rounds = room((plan.warmup + 1) * sizeof *rounds);
	all = room((size_t)plan.cells * SERIES * sizeof *all);
	store = room((size_t)plan.cells * samples * sizeof *store);
	for (i = 0; i < plan.cells; i++)
		measure(i);
}

/* collect brings P2's samples to P1. */
static void collect(void)
{
	int i;

	for (i = 0; i < used; i++) {
		if (all[i].mine && !p1)
			MPI_Send(all[i].times, 8 * all[i].n, MPI_BYTE, peer, TAG, comm);
		else if (!all[i].mine && p1)
			MPI_Recv(all[i].times, 8 * all[i].n, MPI_BYTE, peer, TAG, comm, MPI_STATUS_IGNORE);
	}
}

/* ---- where it ran ---- */

struct place {
	char host[MPI_MAX_PROCESSOR_NAME + 1];
	char processor[256]; /* its model */
	char bound[1024];    /* processors on which the rank may run, such as 0-3,8 */
	int64_t cost, resolution;
};

static struct place places[2]; /* P1, P2 */
static int hosts;

/* plainly makes one line of a text, with a semicolon for each of its line ends. */
static char *plainly(char *s)
{
	size_t n;
	char *c;

	for (n = strlen(s); n > 0 && isspace((unsigned char)s[n - 1]); n--)
		s[n - 1] = 0;
	for (c = s; *c != 0; c++)
		*c = *c == '\n' ? ';' : iscntrl((unsigned char)*c) ? ' ' : *c;
	return s;
}

static void find_bound(char *s, size_t room)
{
	snprintf(s, room, "unknown");
#ifdef __linux__
	cpu_set_t set;
	size_t n = 0;
	int i, end;

	if (sched_getaffinity(0, sizeof set, &set) != 0)
		return;
	for (i = 0; i < CPU_SETSIZE && n + 32 < room; i = end + 1) {
		end = i;
		if (!CPU_ISSET(i, &set))
			continue;
		while (end + 1 < CPU_SETSIZE && CPU_ISSET(end + 1, &set))
			end++;
		n += snprintf(s + n, room - n, n > 0 ? ",%d" : "%d", i);
		if (end > i)
			n += snprintf(s + n, room - n, "-%d", end);
	}
#endif
}

static void find_processor(char *s, size_t room)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[512], *c;

	snprintf(s, room, "unknown");
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, "model name", 10) == 0 && (c = strchr(line, ':')) != NULL) {
			snprintf(s, room, "%s", plainly(c + 1));
			break;
		}
	if (f != NULL)
		fclose(f);
}

static void find_place(void)
{
	struct place mine;
	int n;

	memset(&mine, 0, sizeof mine);
	MPI_Get_processor_name(mine.host, &n);
	plainly(mine.host);
	find_processor(mine.processor, sizeof mine.processor);
	find_bound(mine.bound, sizeof mine.bound);
	calibrate();
	mine.cost = cost;
	mine.resolution = resolution;
	MPI_Allgather(&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, comm);
	hosts = strcmp(places[0].host, places[1].host) == 0 ? 1 : 2;
#if MPI_VERSION >= 3
	MPI_Comm near;
	MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
	MPI_Comm_size(near, &n);
	MPI_Comm_free(&near);
	hosts = n == 2 ? 1 : 2;
#endif
	if (hosts == 1 && strcmp(places[0].bound, places[1].bound) == 0 && strspn(mine.bound, "0123456789") == strlen(mine.bound))
		fail("both ranks may run on processor %s alone, and would take turns on it: they need two", mine.bound);
}

/* ---- the result ---- */

/* write_variables writes the library's variables that speak of eager messages, as they are in this run. */
static void write_variables(FILE *f)
{
#if MPI_VERSION >= 3
	int given, number, i;

	if (MPI_T_init_thread(MPI_THREAD_SINGLE, &given) != MPI_SUCCESS)
		return;
	if (MPI_T_cvar_get_num(&number) != MPI_SUCCESS)
		number = 0;
	for (i = 0; i < number; i++) {
		char name[256], about[16], *c;
		int name_room = sizeof name, about_room = sizeof about, verbosity, binding, scope, count;
		union { int i; unsigned u; unsigned long l; unsigned long long x; } value;
		MPI_T_cvar_handle handle;
		MPI_Datatype type;
		MPI_T_enum names;

		if (MPI_T_cvar_get_info(i, name, &name_room, &verbosity, &type, &names, about, &about_room, &binding, &scope) != MPI_SUCCESS)
			continue;
		for (c = name; *c != 0 && strncmp(c, "eager", 5) != 0 && strncmp(c, "EAGER", 5) != 0; c++)
			;
		if (*c == 0 || binding != MPI_T_BIND_NO_OBJECT ||
		    (type != MPI_INT && type != MPI_UNSIGNED && type != MPI_UNSIGNED_LONG && type != MPI_UNSIGNED_LONG_LONG) ||
		    MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) != MPI_SUCCESS)
			continue;
		if (count == 1 && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS) {
			if (type == MPI_INT)
				fprintf(f, "variable %s %d\n", plainly(name), value.i);
			else
				fprintf(f, "variable %s %llu\n", plainly(name), type == MPI_UNSIGNED ? value.u : type == MPI_UNSIGNED_LONG ? value.l : value.x);
		}
		MPI_T_cvar_handle_free(&handle);
	}
	MPI_T_finalize();
#endif
}

static const char *thread_level(void)
{
	int level;

	MPI_Query_thread(&level);
	return level == MPI_THREAD_SINGLE ? "single" : level == MPI_THREAD_FUNNELED ? "funneled" : level == MPI_THREAD_SERIALIZED ? "serialized" : "multiple";
}

static void write_facts(FILE *f)
{
	int version, subversion, i;

#if MPI_VERSION >= 3
	char library[MPI_MAX_LIBRARY_VERSION_STRING + 1];
	memset(library, 0, sizeof library);
	MPI_Get_library_version(library, &i);
	fprintf(f, "library %s\n", plainly(library));
#else
	fprintf(f, "library unknown\n");
#endif
	MPI_Get_version(&version, &subversion);
	fprintf(f, "standard %d.%d\n", version, subversion);
	fprintf(f, "threads %s\n", thread_level());
	fprintf(f, "hosts %d\n", hosts);
	for (i = 0; i < 2; i++) {
		fprintf(f, "host %s\n", places[i].host);
		fprintf(f, "processor %s\n", places[i].processor);
		fprintf(f, "bound %s\n", places[i].bound);
		fprintf(f, "cost %" PRId64 "\n", places[i].cost);
		fprintf(f, "resolution %" PRId64 "\n", places[i].resolution);
	}
	write_variables(f);
}

static void write_result(void)
{
	FILE *f = fopen(result, "w");
	uint64_t sum = 0, samples = 0;
	int i, k;

	if (f == NULL)
		fail("cannot write the result %s: the first rank must be where it can; let TMPDIR be a directory that all hosts share", result);
	fprintf(f, "loggp-probe 1\n");
	write_facts(f);
	for (i = 0; i < used; i++) {
		const struct cell *c = &cells[all[i].cell];
		fprintf(f, "series %s %d %s %d\n", modes[c->mode].name, c->bytes, all[i].timer, all[i].n);
		for (k = 0; k < all[i].n; k++) {
			fprintf(f, "%" PRId64 "\n", all[i].times[k]);
			sum += (uint64_t)all[i].times[k];
			samples++;
		}
	}
	fprintf(f, "end %" PRIu64 " %" PRIu64 "\n", samples, sum);
	i = ferror(f);
	if (fclose(f) != 0 || i != 0)
		fail("cannot write the result %s: is the disk full?", result);
}

int main(int argc, char **argv)
{
	int size;

	if (argc == 4)
		alarm((unsigned)strtoul(argv[3], NULL, 10)); /* if nobody is left who could end it */
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	result = argc == 4 ? argv[2] : NULL;
	if (argc != 4)
		fail("usage: probe PLAN RESULT SECONDS");
	if (size != 2)
		fail("it was started with a world of size %d, and needs one of 2: does the launcher start two, and is it of the compiler's MPI?", size);
	p1 = rank == 0;
	peer = 1 - rank;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_dup(MPI_COMM_WORLD, &meeting);
	share_plan(argv[1]);
	find_place();
	measure_all();
	collect();
	if (p1)
		write_result();
	MPI_Barrier(comm);
	MPI_Finalize();
	return 0;
}
