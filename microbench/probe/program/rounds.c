/* ---- how rounds of collective operations begin ---- */

enum {
	GATHERED = 1 << 20, /* times of all ranks in a command, at most */
	AHEAD = 2,          /* how many rounds from barrier to barrier an agreed start is ahead: all ranks know of it by then */
	PROMPT = 200,       /* ns after it that a rank may begin, or a step of the clock if that is longer: to read it once or twice */
	TOO_LATE = -1       /* the time of a rank that did not */
};

static void (*perform_it)(void);

/* be_quiet waits until a time. Ranks that take turns on processors get this one meanwhile. */
static void be_quiet(int64_t until)
{
	while (now() < until)
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

/* warm_together goes through rounds that do not count, and notes how long one takes from barrier to barrier. */
static void warm_together(int64_t rounds)
{
	int64_t begin, took, i;

	MPI_Barrier(meeting);
	for (i = 0; i < rounds; i++) {
		begin = now();
		perform_it();
		MPI_Barrier(meeting);
		took = (now() - begin) * 1000;
		round_took = i == 0 || took < round_took ? took : round_took;
	}
}

static void answer_times(int64_t took, const int64_t *works, int workers, const int64_t *const *columns, const int64_t *n, int count);

/* perform does a command of a collective operation; a column of the answer is the times of a rank. */
static void perform(const struct command *c)
{
	static int64_t played[MOST_ROUNDS];
	const struct operation *o;
	int64_t *gathered, *n, begin = now(), window = c->wait / 1000;
	const int64_t **columns;
	int i, rounds = (int)c->rounds;

	if (c->stage > AT_ONCE || c->mode < 0 || c->mode >= OPERATIONS || c->rounds * ranks > GATHERED)
		fail("a command of stage %" PRId64 " and operation %" PRId64 ", which are none", c->stage, c->mode);
	o = &operations[c->mode];
	act.given = larger_room(act.given, &given_room, bytes_of(o->gives, (int)c->bytes));
	act.got = larger_room(act.got, &got_room, bytes_of(o->gets, (int)c->bytes));
	perform_it = o->call;
	take_up((int)c->bytes);
	warm_together(c->warm);
	for (i = 0; i < rounds; i++)
		played[i] = c->stage == AT_ONCE ? at_once(window) : behind_barrier(window);
	gathered = room(8 * (size_t)ranks * (size_t)rounds);
	columns = room((size_t)ranks * sizeof *columns);
	n = room((size_t)ranks * sizeof *n);
	if (rounds > 0)
		MPI_Gather(played, 8 * rounds, MPI_BYTE, gathered, 8 * rounds, MPI_BYTE, 0, meeting);
	for (i = 0; i < ranks; i++) {
		columns[i] = gathered + (size_t)i * (size_t)rounds;
		n[i] = rounds;
	}
	if (rank == 0)
		answer_times((now() - begin) * 1000, NULL, 0, columns, n, ranks);
	free(gathered);
	free(columns);
	free(n);
}
