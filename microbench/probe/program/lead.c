/* ---- what P1 orders ---- */

enum {
	PASSES = 3,          /* over what is not known after the first look */
	FIRST = 4,           /* 1/FIRST of the time is for the first look, */
	WARMTH = 10,         /* and 1/WARMTH of it until times are stable, at most */
	LONG_WARMTH = 100000000, /* ns, where there is no end */
	SPELL = 300000,      /* ns of round trips that have a median in common, */
	SPELLS = 4,          /* of which so many agree, */
	AGREE = 3,           /* to so many hundredths */
	FEW = 3,             /* rounds that tell of what length they are */
	UNKEPT = 1           /* rounds at each visit that do not count */
};

/* task is a stage of a cell: what is repeated as often as it needs. */
struct task {
	int cell, stage;
	int samples, batch;
	int64_t delta, cost; /* ns: of a sample with each root */
	int known;
	int64_t *times[TIMERS][2];
	int room;
};

static struct task *tasks;
static int tasked;
static int64_t begun;
static int64_t *scratch;
static int scratched;

static void *larger_room(void *old, size_t had, size_t n)
{
	void *p = room(n);

	if (had > 0)
		memcpy(p, old, had);
	free(old);
	return p;
}

/* keep puts what was taken to what there is. */
static void keep(struct task *t)
{
	const struct stage *s = &stages[t->stage];
	int timer, root, n = taken.n[0][0], need = t->samples + n, room_for = 2 * need;

	for (timer = 0; timer < s->timers; timer++)
		for (root = 0; root < 2; root++) {
			if (need > t->room)
				t->times[timer][root] = larger_room(t->times[timer][root], 8 * (size_t)t->samples, 8 * (size_t)room_for);
			memcpy(t->times[timer][root] + t->samples, taken.times[timer][root], 8 * (size_t)n);
		}
	if (need > t->room)
		t->room = room_for;
	t->samples = need;
}

/* estimate is the mean of the medians with the two roots. */
static struct estimate estimate(const struct task *t, int timer)
{
	struct estimate of[2], e;
	int root;

	if (t->samples > scratched) {
		free(scratch);
		scratched = 2 * t->samples;
		scratch = room(8 * (size_t)scratched);
	}
	for (root = 0; root < 2; root++) {
		memcpy(scratch, t->times[timer][root], 8 * (size_t)t->samples);
		of[root] = median_of(scratch, t->samples);
	}
	e.value = (of[0].value + of[1].value) / 2;
	e.half = of[0].half >= 1e300 || of[1].half >= 1e300 ? 1e300 : root_of(of[0].half * of[0].half + of[1].half * of[1].half) / 2;
	return e;
}

/* limit is how many samples of a task there may be with each root. */
static int limit(const struct task *t)
{
	return plan.reps > 0 ? stages[t->stage].rounds(plan.reps) : plan.most;
}

/* know finds out whether a task has been repeated enough. Of timer22 there is no parameter. */
static void know(struct task *t)
{
	const struct stage *s = &stages[t->stage];
	int timer;

	t->known = t->samples >= limit(t);
	if (t->known || plan.reps > 0)
		return;
	for (timer = 0; timer < s->timers; timer++)
		if (strcmp(s->names[timer], "timer22") != 0 && !within(estimate(t, timer), plan.precision / 1e6))
			return;
	t->known = 1;
}

/* visit makes samples of a task. */
static void visit(struct task *t, int samples)
{
	struct order o = {0, t->cell, t->stage, smaller(samples, PORTION), t->batch, UNKEPT, t->delta};
	int64_t begin = now();

	together(&o);
	t->cost = (now() - begin) / (o.samples + UNKEPT) + 1;
	keep(t);
	know(t);
}

static int over(void) { return plan.time > 0 && now() - begun >= plan.time; }

/* fitting is how many samples of a task fit into some time, one at least. */
static int fitting(const struct task *t, int64_t time)
{
	int64_t n = time / t->cost;
	int left = limit(t) - t->samples;

	if (plan.time == 0)
		n = larger(plan.least, limit(t) / (PASSES + 1));
	n = n < left ? n : left;
	return n < 1 ? 1 : n > PORTION ? PORTION : (int)n;
}

/* warm_up warms a cell up, and returns how long a round of six messages, one after the other, takes in ns. */
static int64_t warm_up(int cell, int rounds)
{
	struct order o = {0, cell, 0, smaller(rounds, PORTION), 1, UNKEPT, plan.delta};
	int64_t round;

	together(&o);
	round = (lasted[0] < lasted[1] ? lasted[0] : lasted[1]) / o.samples - plan.delta;
	return round > 1 ? round : 1;
}

/* batch_of is how many operations make a sample: round trips until they last long enough, and of others so many that a sample shows a nanosecond. */
static int batch_of(const struct stage *s, int64_t trip)
{
	int64_t n = s->batches ? ENOUGH / trip : resolution / 1000;

	return n < 1 ? 1 : n > BATCH ? BATCH : (int)n;
}

/* begin_cell warms a cell up, a long one by fewer rounds, and makes tasks of it. */
static void begin_cell(int cell, int64_t slice)
{
	int64_t round = warm_up(cell, larger(1, smaller(plan.warmup, FEW))), trip;
	struct task *t;
	int s;

	if (plan.warmup > FEW && (plan.time == 0 || round * plan.warmup < slice))
		round = warm_up(cell, plan.warmup - FEW);
	trip = round / 3 + 1;
	for (s = 0; s < STAGES; s++) {
		if (!stages[s].serves(&modes[cells[cell].mode]) || stages[s].which < cells[cell].which)
			continue;
		t = &tasks[tasked++];
		memset(t, 0, sizeof *t);
		t->cell = cell;
		t->stage = s;
		t->batch = batch_of(&stages[s], trip);
		t->delta = plan.delta > 0 ? plan.delta : 2 * round;
		t->cost = 2 * (t->batch * (stages[s].waits * t->delta + stages[s].trips * trip));
	}
}

/* look measures everything for the first time. */
static void look(void)
{
	int64_t slice = plan.time / FIRST / (plan.cells * STAGES);
	int cell, first;

	for (cell = 0; cell < plan.cells; cell++) {
		first = tasked;
		begin_cell(cell, slice);
		for (; first < tasked; first++)
			visit(&tasks[first], plan.time > 0 ? smaller(plan.least, fitting(&tasks[first], slice)) : fitting(&tasks[first], 0));
	}
}

/* shuffled puts numbers into a random order: xorshift64* of Vigna (2016), and Fisher and Yates. */
static void shuffle(int *numbers, int n)
{
	static uint64_t x;
	int i, k, other;

	x = x == 0 ? plan.seed * 2 + 1 : x;
	for (i = n - 1; i > 0; i--) {
		x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
		k = (int)((x * UINT64_C(2685821657736338717) >> 33) % (uint64_t)(i + 1));
		other = numbers[i], numbers[i] = numbers[k], numbers[k] = other;
	}
}

/* pass visits in a random order what is not known yet, as if so many passes were to come, and returns whether there may be another. */
static int pass(int left)
{
	int *todo = room((size_t)tasked * sizeof *todo), n = 0, i;
	int64_t slice;

	for (i = 0; i < tasked; i++)
		if (!tasks[i].known)
			todo[n++] = i;
	shuffle(todo, n);
	slice = n > 0 ? (plan.time - (now() - begun)) / left / n : 0;
	for (i = 0; i < n && !over(); i++)
		visit(&tasks[todo[i]], fitting(&tasks[todo[i]], slice));
	free(todo);
	return n > 0 && !over();
}

/* settled says whether the last medians agree. */
static int settled(const int64_t *medians, int n)
{
	int64_t least, most;
	int i;

	if (n < SPELLS)
		return 0;
	for (i = n - SPELLS, least = most = medians[i]; i < n; i++) {
		least = medians[i] < least ? medians[i] : least;
		most = medians[i] > most ? medians[i] : most;
	}
	return (most - least) * 100 <= least * AGREE;
}

/*
 * steady warms up the two processes, by round trips of the first cell that do not count until they take the same time again and again: processors are
 * not at their speed at first, caches hold something else, and nobody has predicted a branch.
 */
static void steady(void)
{
	enum { MOST = 1000 };
	int64_t medians[MOST], most = plan.time > 0 ? plan.time / WARMTH : LONG_WARMTH, begin;
	int n = 0, rounds;

	rounds = (int)(SPELL / warm_up(0, 3));
	rounds = larger(3, smaller(rounds, 100));
	for (begin = now(); n < MOST && !settled(medians, n) && now() - begin < most; n++)
		medians[n] = warm_up(0, rounds);
}

static void lead(void)
{
	static int steadied;
	struct order end = {1, 0, 0, 0, 0, 0, 0};
	int left;

	begun = now();
	reserve();
	tasks = room((size_t)plan.cells * STAGES * sizeof *tasks);
	tasked = 0;
	if (!steadied++ && plan.warmup > 0)
		steady();
	look();
	for (left = PASSES; pass(larger(left, 1)); left--)
		;
	together(&end);
}

/* forget makes room for the next plan. */
static void forget(void)
{
	int i, timer, root;

	for (i = 0; i < tasked; i++)
		for (timer = 0; timer < TIMERS; timer++)
			for (root = 0; root < 2; root++)
				free(tasks[i].times[timer][root]);
	free(tasks);
	tasks = NULL;
	tasked = 0;
}
