/* ---- the plan ---- */

enum {
	CELLS = 1 << 16,
	LONGEST = 1 << 28, /* bytes of a message */
	REPS = 1000000
};

struct mode {
	const char *name;
	int blocking, ready, buffered, streams; /* streams: messages can follow each other, as no send waits for its receive or needs one that was posted */
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
	int collective;  /* cells are of collective operations; else of modes */
	int64_t time;    /* ns that it may take, but that all is measured a little; 0: without end */
	int reps;        /* with each root; 0: as many as the rest says */
	int least, most; /* samples of a timer with each root */
	int precision;   /* millionths of a median: half of its interval, at which it is known */
	int warmup;
	int64_t delta;   /* ns; 0: twice a round of the warm-up */
	uint64_t seed;   /* of the order in which what is not known is measured again */
	int variables;   /* those of the library are wanted */
	int64_t best[2]; /* ns: the best looks of P1 and of P2 in earlier launches; 0: none */
	int cells;
};

enum { ALL_TIMERS, BRIEF_TIMERS, TRIP_TIMERS }; /* timers: all, those in which a change of protocol shows, or round trips alone */
enum { ALL_STARTS, BARRIERS };                   /* those of collective operations: all, or those of calls behind barriers alone */

struct cell {
	int mode, bytes; /* the mode, or the collective operation, by its number */
	int which;       /* of its timers */
};

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

/* find_what finds a mode, or an operation if the plan has those. */
static int find_what(const char *name)
{
#ifdef COLLECTIVES
	if (plan.collective)
		return find_operation(name);
#endif
	return find_mode(name);
}

/* which_of reads which timers a cell has. */
static int which_of(const char *name)
{
	static const char *const words[2][3] = {{"all", "brief", "trips"}, {"all", "barriers", ""}};
	int w;

	for (w = 0; w < 3; w++)
		if (strcmp(words[plan.collective][w], name) == 0)
			return w;
	fail("the plan has timers %s, which are none", name);
	return 0;
}

static int is_plan(const struct plan *p)
{
	return p->collective >= 0 && p->collective <= 1 && p->time >= 0 && p->reps >= 0 && p->reps <= REPS && p->least >= 1 && p->least <= p->most && p->precision >= 0 &&
	       p->warmup >= 0 && p->warmup <= REPS && p->delta >= 0 && p->best[0] >= 0 && p->best[1] >= 0 && p->cells >= 0 && p->cells <= CELLS;
}

static void read_cell(FILE *f, struct cell *c)
{
	char mode[16], what[16];

	if (fscanf(f, "%15s %d %15s", mode, &c->bytes, what) != 3 || c->bytes < 0 || c->bytes > LONGEST)
		fail("the plan has no cell %d", (int)(c - cells));
	c->mode = find_what(mode);
	c->which = which_of(what);
}

static void read_plan(int n)
{
	FILE *f = await("plan", n);
	int i;

	if (fscanf(f, "loggp-plan 4 collective %d time %" SCNd64 " reps %d least %d most %d precision %d warmup %d delta %" SCNd64 " seed %" SCNu64 " variables %d looks %" SCNd64 " %" SCNd64 " cells %d",
	           &plan.collective, &plan.time, &plan.reps, &plan.least, &plan.most, &plan.precision, &plan.warmup, &plan.delta, &plan.seed, &plan.variables,
	           &plan.best[0], &plan.best[1], &plan.cells) != 13 ||
	    !is_plan(&plan))
		fail("the plan is not one");
	cells = room(plan.cells * sizeof *cells);
	for (i = 0; i < plan.cells; i++)
		read_cell(f, &cells[i]);
	fclose(f);
}

/* hear waits for a message without a look at it more often than now and then. */
static void hear(void)
{
	int there = 0;

	while (MPI_Iprobe(0, ORDER, meeting, &there, MPI_STATUS_IGNORE), !there)
		doze();
	alarm(patience);
}

/* next_plan gets the plan to all ranks, and returns whether there is one. */
static int next_plan(int n)
{
	int r;

	if (p1) {
		read_plan(n);
		for (r = 1; r < ranks; r++) {
			MPI_Send(&plan, sizeof plan, MPI_BYTE, r, ORDER, meeting);
			MPI_Send(cells, plan.cells * (int)sizeof *cells, MPI_BYTE, r, ORDER, meeting);
		}
	} else {
		hear();
		MPI_Recv(&plan, sizeof plan, MPI_BYTE, 0, ORDER, meeting, MPI_STATUS_IGNORE);
		cells = room(plan.cells * sizeof *cells);
		MPI_Recv(cells, plan.cells * (int)sizeof *cells, MPI_BYTE, 0, ORDER, meeting, MPI_STATUS_IGNORE);
	}
	return plan.cells > 0;
}
