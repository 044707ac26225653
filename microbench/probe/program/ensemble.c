/* ---- collective operations: what all ranks do ---- */

enum {
	ROUNDS = 4096,       /* whose times are gathered at once, at most, */
	GATHERED = 1 << 20,  /* and so many times of all ranks */
	AHEAD = 2,           /* how many rounds from barrier to barrier an agreed start is ahead: all ranks know of it by then */
	PROMPT = 200,        /* ns after it that a rank may begin, or a step of the clock if that is longer: to read it once or twice */
	TOO_LATE = -1,       /* the time of a rank that did not */
	RESTING = -1,        /* no cell: the operation is a barrier */
	BEGINNINGS = 2, SEEN = 3   /* to begin; timers of one, at most */
};

/* cue is what all ranks do next. */
struct cue {
	int end; /* nothing any more */
	int cell, way;
	int warm, rounds; /* those before that do not count, behind barriers */
	int64_t window;   /* ns: how far ahead a start is agreed on */
};

static void (*perform_it)(void);
static int64_t round_took;              /* ns: from barrier to barrier the shortest of those that did not count */
static int64_t played[ROUNDS], *gathered; /* ps: of this rank; at rank 0 of all, one after the other */

/* be_quiet waits until a time. Where ranks take turns on processors, others get this one meanwhile. */
static void be_quiet(int64_t until)
{
	int crowded = processors > 0 && processors < ranks;

	while (now() < until)
		if (crowded)
			sched_yield();
}

/*
 * behind_barrier lets each rank begin when it leaves a barrier, and returns what its call takes. Who has ended is quiet until all have, for so long as a round
 * takes: who is still at it would take in messages of what comes next.
 */
static int64_t behind_barrier(int64_t window)
{
	int64_t begin, end;

	MPI_Barrier(meeting);
	begin = now();
	perform_it();
	end = now();
	be_quiet(end + window / AHEAD);
	return elapsed(begin, end, 1);
}

/* at_once lets all ranks begin at the same time by their common clock, and returns how long after it this one has ended. */
static int64_t at_once(int64_t window)
{
	int64_t start = now() + window, begin, end, prompt = resolution / 1000 > PROMPT ? resolution / 1000 : PROMPT;
	int late;

	MPI_Bcast(&start, sizeof start, MPI_BYTE, 0, meeting);
	begin = now();
	late = begin > start;
	while (begin < start)
		begin = now();
	late = late || begin > start + prompt;
	perform_it();
	end = now();
	be_quiet(start + window / AHEAD);
	return late ? TOO_LATE : elapsed(start, end, 1);
}

/* spread is of each rank's own time: the least, the median and the largest. */
static int spread(const int64_t *sorted, int64_t *samples)
{
	int64_t low = sorted[(ranks - 1) / 2], high = sorted[ranks / 2];

	samples[0] = sorted[0];
	samples[1] = low + (high - low) / 2;
	samples[2] = sorted[ranks - 1];
	return 1;
}

/* last_of is the time of who ended last; none if one was too late. */
static int last_of(const int64_t *sorted, int64_t *samples)
{
	samples[0] = sorted[ranks - 1];
	return sorted[0] != TOO_LATE;
}

/* How a round begins, and what is seen of it: as in package microbench. */
static const struct way {
	int timers;
	const char *names[SEEN];
	int64_t (*round)(int64_t window);
	int (*sum)(const int64_t *sorted, int64_t *samples); /* whether the round counts */
} ways[BEGINNINGS] = {
	{3, {"coll_min", "coll_median", "coll_max"}, behind_barrier, spread},
	{1, {"coll_last"}, at_once, last_of},
};

/* most_rounds is how many there are in a cue, at most. */
static int most_rounds(void) { return larger(1, smaller(ROUNDS, GATHERED / ranks)); }

/* warm_together goes through rounds that do not count, and notes how long one takes. */
static void warm_together(int rounds)
{
	int64_t begin, end;
	int i;

	MPI_Barrier(meeting);
	for (i = 0; i < rounds; i++) {
		begin = now();
		perform_it();
		MPI_Barrier(meeting);
		end = now();
		if (i == 0 || end - begin < round_took)
			round_took = end - begin;
	}
}

/* play does what a cue says; then rank 0 has the times of its rounds. */
static void play(const struct cue *q)
{
	int i;

	perform_it = q->cell == RESTING ? do_barrier : operations[cells[q->cell].mode].call;
	take_up(q->cell == RESTING ? 0 : cells[q->cell].bytes);
	warm_together(q->warm);
	for (i = 0; i < q->rounds; i++)
		played[i] = ways[q->way].round(q->window);
	if (q->rounds > 0)
		MPI_Gather(played, 8 * q->rounds, MPI_BYTE, gathered, 8 * q->rounds, MPI_BYTE, 0, meeting);
}

/* all_play lets all ranks play. */
static void all_play(struct cue q)
{
	MPI_Bcast(&q, sizeof q, MPI_BYTE, 0, meeting);
	if (!q.end)
		play(&q);
}

/* play_along does what rank 0 says until there is nothing any more. */
static void play_along(void)
{
	struct cue q;

	for (;;) {
		MPI_Bcast(&q, sizeof q, MPI_BYTE, 0, meeting);
		if (q.end)
			return;
		play(&q);
	}
}

/* seat sees to it that there are buffers for the longest data, and for times. */
static void seat(void)
{
	size_t gives = 0, gets = 0, n;
	int i;

	for (i = 0; i < plan.cells; i++) {
		n = bytes_of(operations[cells[i].mode].gives, cells[i].bytes);
		gives = n > gives ? n : gives;
		n = bytes_of(operations[cells[i].mode].gets, cells[i].bytes);
		gets = n > gets ? n : gets;
	}
	act.given = room(gives);
	act.got = room(gets);
	act.counts = room((size_t)ranks * sizeof *act.counts);
	gathered = p1 ? room(8 * (size_t)ranks * (size_t)most_rounds()) : NULL;
}

static void leave(void)
{
	free(act.given);
	free(act.got);
	free(act.counts);
	free(gathered);
}
