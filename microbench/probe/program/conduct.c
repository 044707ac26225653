/* ---- collective operations: what P1 lets all ranks do ---- */

enum {
	MET = 4,           /* rounds when a cell is met, and */
	WARMING = 1,       /* at each visit, that do not count */
	GLIMPSE = 40,      /* rounds of the first look, at most */
	FEW_LATE = 4,      /* of so many rounds one may begin too late, or the start is twice as far ahead from then on, */
	WIDEST = 16,       /* but not so many times: ranks that are late for another reason stay late, and all would wait for them */
	HOPELESS = 5       /* times as many rounds as are wanted may be gone through for them */
};

/* passage is a cell and a way to begin: what is repeated as often as it needs. */
struct passage {
	int cell, way;
	int tried, samples, room, known;
	int64_t cost; /* ns: of a round, by the last visit */
	int64_t *times[SEEN];
};

static struct passage *passages;
static int passed;
static struct ahead { int64_t window, widest; } *starts; /* ns: of each cell that was met, how far ahead a start is agreed on, and may be */
static int64_t started, tardy; /* rounds that were to begin at an agreed time, and those of them in which a rank was too late */

/* keep_round puts the samples of a round to what there is. */
static void keep_round(struct passage *p, const int64_t *samples)
{
	int timer;

	if (p->samples == p->room) {
		for (timer = 0; timer < ways[p->way].timers; timer++)
			p->times[timer] = larger_room(p->times[timer], 8 * (size_t)p->room, 8 * (2 * (size_t)p->room + GLIMPSE));
		p->room = 2 * p->room + GLIMPSE;
	}
	for (timer = 0; timer < ways[p->way].timers; timer++)
		p->times[timer][p->samples] = samples[timer];
	p->samples++;
}

/* sum_up makes samples of so many rounds that all ranks have played, and returns how many count. */
static int sum_up(struct passage *p, int rounds)
{
	int64_t *times = room(8 * (size_t)ranks), samples[SEEN];
	int i, r, good = 0;

	for (i = 0; i < rounds; i++) {
		for (r = 0; r < ranks; r++)
			times[r] = gathered[(size_t)r * (size_t)rounds + (size_t)i];
		qsort(times, (size_t)ranks, sizeof *times, by_time);
		if (!ways[p->way].sum(times, samples))
			continue;
		keep_round(p, samples);
		good++;
	}
	free(times);
	return good;
}

static int passage_limit(void) { return plan.reps > 0 ? plan.reps : plan.most; }

/* is_known says whether a passage has been repeated enough. */
static int is_known(const struct passage *p)
{
	int64_t *sorted;
	int timer, known = 1;

	if (p->samples >= passage_limit())
		return 1;
	if (plan.reps > 0)
		return p->tried / HOPELESS >= plan.reps;
	sorted = room(8 * (size_t)p->samples);
	for (timer = 0; timer < ways[p->way].timers && known; timer++) {
		memcpy(sorted, p->times[timer], 8 * (size_t)p->samples);
		known = within(median_of(sorted, p->samples), plan.precision / 1e6);
	}
	free(sorted);
	return known;
}

/* attend goes through rounds of a passage. */
static void attend(struct passage *p, int rounds)
{
	struct cue q = {0, p->cell, p->way, WARMING, smaller(rounds, most_rounds()), starts[p->cell].window};
	int64_t begin = now();
	int late;

	all_play(q);
	p->cost = (now() - begin) / (q.rounds + WARMING) + 1;
	p->tried += q.rounds;
	late = q.rounds - sum_up(p, q.rounds);
	if (ways[p->way].round == at_once) {
		started += q.rounds;
		tardy += late;
		if (late * FEW_LATE > q.rounds && q.window < starts[p->cell].widest)
			starts[p->cell].window = 2 * q.window;
	}
	p->known = is_known(p);
}

/* meet_cell finds out how long a round of it takes, from barrier to barrier. */
static void meet_cell(int cell)
{
	struct cue q = {0, cell, 0, larger(MET, plan.warmup), 0, 0};

	all_play(q);
	starts[cell].window = AHEAD * round_took + 1;
	starts[cell].widest = WIDEST * starts[cell].window;
}

/* suiting is how many rounds of a passage fit into some time, one at least. */
static int suiting(const struct passage *p, int64_t time)
{
	int left = passage_limit() - p->samples;
	int64_t n = plan.reps > 0 ? plan.reps / (PASSES + 1) : time / p->cost;

	n = n < left ? n : left;
	return n < 1 ? 1 : n < ROUNDS ? (int)n : ROUNDS;
}

/* first_look visits all passages for the first time. */
static void first_look(void)
{
	int64_t slice = plan.time / FIRST / (plan.cells * BEGINNINGS);
	struct passage *p;
	int cell, way, rounds;

	for (cell = 0; cell < plan.cells; cell++) {
		meet_cell(cell);
		for (way = 0; way < (cells[cell].which == BARRIERS ? 1 : BEGINNINGS); way++) {
			p = &passages[passed++];
			memset(p, 0, sizeof *p);
			p->cell = cell;
			p->way = way;
			p->cost = starts[cell].window;
			rounds = suiting(p, slice);
			attend(p, plan.reps > 0 ? rounds : larger(plan.least, smaller(rounds, GLIMPSE)));
		}
	}
}

/* next_pass visits in a random order what is not known yet, as if so many passes were to come, and returns whether there may be another. */
static int next_pass(int left)
{
	int *todo = room((size_t)passed * sizeof *todo), n = 0, i;
	int64_t slice;

	for (i = 0; i < passed; i++)
		if (!passages[i].known)
			todo[n++] = i;
	shuffle(todo, n);
	slice = n > 0 ? (plan.time - (now() - begun)) / left / n : 0;
	for (i = 0; i < n && !over(); i++)
		attend(&passages[todo[i]], suiting(&passages[todo[i]], slice));
	free(todo);
	return n > 0 && !over();
}

/* steady_together lets all ranks warm up, by barriers until these take the same time again and again. */
static void steady_together(void)
{
	enum { MOST = 1000, LEAST = 8, SPELL_ROUNDS = 100 };
	int64_t medians[MOST], most = plan.time > 0 ? plan.time / WARMTH : LONG_WARMTH, begin;
	struct cue q = {0, RESTING, 0, LEAST, 0, 0};
	int n;

	all_play(q);
	q.warm = (int)(SPELL / (round_took + 1));
	q.warm = larger(LEAST, smaller(q.warm, SPELL_ROUNDS));
	for (begin = now(), n = 0; n < MOST && !settled(medians, n) && now() - begin < most; n++) {
		all_play(q);
		medians[n] = round_took;
	}
}

static void conduct(void)
{
	struct cue end = {1, 0, 0, 0, 0, 0};
	int left;

	begun = now();
	passages = room((size_t)plan.cells * BEGINNINGS * sizeof *passages);
	starts = room((size_t)plan.cells * sizeof *starts);
	passed = 0;
	started = tardy = 0;
	if (plan.warmup > 0)
		steady_together();
	first_look();
	for (left = PASSES; next_pass(larger(left, 1)); left--)
		;
	all_play(end);
}

/* write_performance writes what collective operations took. There are no samples of what never began in time. */
static void write_performance(FILE *f)
{
	const struct passage *p;
	int timer;

	write_head(f);
	fprintf(f, "late %" PRId64 "\nof %" PRId64 "\n", tardy, started);
	for (p = passages; p < passages + passed; p++)
		for (timer = 0; timer < ways[p->way].timers && p->samples > 0; timer++) {
			fprintf(f, "series %s %d %s unknown %d\n", operations[cells[p->cell].mode].name, cells[p->cell].bytes, ways[p->way].names[timer], p->samples);
			write_samples(f, p->times[timer], p->samples);
		}
	write_end(f);
}

/* disperse makes room for the next plan. */
static void disperse(void)
{
	int i, timer;

	for (i = 0; i < passed; i++)
		for (timer = 0; timer < SEEN; timer++)
			free(passages[i].times[timer]);
	free(passages);
	free(starts);
	passages = NULL;
	starts = NULL;
	passed = 0;
}

/* perform measures the plan of that number. */
static void perform(int n)
{
	seat();
	if (p1) {
		conduct();
		write_file("result", n, write_performance);
	} else {
		play_along();
	}
	leave();
	disperse();
}
