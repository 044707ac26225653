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
	UNKEPT = 1,          /* rounds at each visit that do not count */
	STAY = 1000000,      /* ns that a visit lasts at most, or for one sample with each root: what slows a core comes and goes */
	RARE = 33            /* 1/RARE of the visits: a state that is seen less often is not worth waiting for */
};

/* A visit ended when there were so many samples with each root, and the longer looks before and after it were these. */
struct visit {
	int end;
	int64_t looks[2]; /* ns */
};

/* task is a stage of a cell: what is repeated as often as it needs. */
struct task {
	int cell, stage;
	int samples, batch;
	int64_t delta, cost; /* ns: of a sample with each root */
	int alone, both;     /* something is not known yet of what P1 does alone, or of the rest */
	int64_t *times[TIMERS][2];
	int room;
	struct visit *visits;
	int visited, visit_room;
};

static struct task *tasks;
static int tasked;
static int aim;    /* the state of the processors in which all is to be known */
static int scarce; /* there are more moments in which P1's processor alone is in that state */
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

/* register_visit writes down what was seen at the visit that has just ended. */
static void register_visit(struct task *t)
{
	struct visit v;

	if (t->visited == t->visit_room) {
		t->visit_room = 2 * t->visit_room + PASSES;
		t->visits = larger_room(t->visits, (size_t)t->visited * sizeof v, (size_t)t->visit_room * sizeof v);
	}
	v.end = t->samples;
	memcpy(v.looks, slower, sizeof v.looks);
	t->visits[t->visited++] = v;
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
	register_visit(t);
}

static int alone(const struct task *t, int timer) { return is_alone(&modes[cells[t->cell].mode], stages[t->stage].names[timer]); }

/* in_state puts the samples of a timer with a root that are of visits in a state, as far as the timer depends on it, into scratch, and returns how many these are. */
static int in_state(const struct task *t, int timer, int root, int state)
{
	const struct visit *v;
	int by_itself = alone(t, timer), from = 0, n = 0;

	if (t->samples > scratched) {
		free(scratch);
		scratched = 2 * t->samples;
		scratch = room(8 * (size_t)scratched);
	}
	for (v = t->visits; v < t->visits + t->visited; from = v++->end)
		if (state == ANY || part(state_of(v->looks), by_itself) == part(state, by_itself)) {
			memcpy(scratch + n, t->times[timer][root] + from, 8 * (size_t)(v->end - from));
			n += v->end - from;
		}
	return n;
}

/* estimate is the mean of the medians with the two roots, in a state. */
static struct estimate estimate(const struct task *t, int timer, int state)
{
	struct estimate of[2], e;
	int root, n;

	for (root = 0; root < 2; root++) {
		n = in_state(t, timer, root, state);
		of[root] = median_of(scratch, n);
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

/* lacks finds out what of a task is not known in the state that is aimed at, and returns whether there is anything. Of timer22 there is no parameter. */
static int lacks(struct task *t)
{
	const struct stage *s = &stages[t->stage];
	int timer;

	t->alone = t->both = 0;
	if (t->samples >= limit(t))
		return 0;
	for (timer = 0; timer < s->timers; timer++) {
		if (strcmp(s->names[timer], "timer22") == 0 || (plan.reps == 0 && within(estimate(t, timer, aim), plan.precision / 1e6)))
			continue;
		if (alone(t, timer))
			t->alone = 1;
		else
			t->both = 1;
	}
	return t->alone || t->both;
}

/* visit makes samples of a task. */
static void visit(struct task *t, int samples)
{
	struct order o = {0, 0, t->cell, t->stage, smaller(samples, PORTION), t->batch, UNKEPT, t->delta};
	int64_t begin = now();

	together(&o);
	t->cost = (now() - begin) / (o.samples + UNKEPT) + 1;
	keep(t);
}

static int over(void) { return plan.time > 0 && now() - begun >= plan.time; }

/* fitting is how many samples of a task fit into some time, one at least. */
static int fitting(const struct task *t, int64_t time)
{
	int64_t n = (time < STAY ? time : STAY) / t->cost;
	int left = limit(t) - t->samples;

	if (plan.time == 0)
		n = larger(plan.least, limit(t) / (PASSES + 1));
	n = n < left ? n : left;
	return n < 1 ? 1 : n > PORTION ? PORTION : (int)n;
}

/* warm_up warms a cell up, and returns how long a round of six messages, one after the other, takes in ns. */
static int64_t warm_up(int cell, int rounds)
{
	struct order o = {0, 0, cell, 0, smaller(rounds, PORTION), 1, UNKEPT, plan.delta};
	int64_t round;

	together(&o);
	round = (lasted[0] < lasted[1] ? lasted[0] : lasted[1]) / o.samples - plan.delta;
	return round > 1 ? round : 1;
}

/* batch_of is how many operations make a sample: round trips until they last long enough, and of others, where the clock's steps are long, so many that a sample shows a nanosecond. Where they
 * are not, the mean of several would show what one in ten takes that is held up, and many samples of one tell more. */
static int batch_of(const struct stage *s, int64_t trip)
{
	int64_t n = s->batches ? ENOUGH / trip : resolution > FINE ? resolution / 1000 : 1;

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

/* survey measures everything for the first time. */
static void survey(void)
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

/* choose says what state to aim at: that of full pace, unless it is rare; then the most frequent. */
static void choose(void)
{
	int visits[STATES] = {0}, all = 0, i, s;
	const struct visit *v;

	for (i = 0; i < tasked; i++)
		for (v = tasks[i].visits; v < tasks[i].visits + tasks[i].visited; v++) {
			visits[state_of(v->looks)]++;
			all++;
		}
	aim = QUICK;
	for (s = 0; s < STATES && visits[QUICK] * RARE < all; s++)
		if (visits[s] > visits[aim])
			aim = s;
	scarce = visits[aim] < visits[aim ^ SLOWED_P2];
}

/*
 * next is which of the tasks of that number is to be visited now, in the state of the processors that was seen last. Moments of the state that is aimed at
 * are for what depends on both, where there are more in which P1's processor alone is as it is to be. It is -1 if now is the time for none.
 */
static int next(const int *todo, int n)
{
	int state = state_of(pace.last), i;

	if (part(state, 1) != part(aim, 1))
		return -1;
	if (state == aim && !scarce)
		return 0;
	for (i = 0; i < n; i++)
		if (state == aim ? tasks[todo[i]].both : tasks[todo[i]].alone)
			return i;
	return state == aim ? 0 : -1;
}

/* call_on visits a task, and returns whether it is to be visited again in this pass: it was not in the state that is aimed at. */
static int call_on(struct task *t, int64_t slice)
{
	int was;

	visit(t, fitting(t, slice));
	was = state_of(slower);
	if (!t->both || was == aim || t->samples >= limit(t))
		return 0;
	if (part(was, 1) == part(aim, 1))
		t->alone = 0;
	return 1;
}

/*
 * pass visits in a random order what is not known yet, as if so many passes were to come, and returns whether there may be another. In another state of the
 * processors than that aimed at it does first what does not depend on that, and then looks again and again, for half of its time.
 */
static int pass(int left)
{
	int *todo = room((size_t)tasked * sizeof *todo), n = 0, i, patient, any;
	struct order again = {0, 1, 0, 0, 0, 0, 0, 0};
	int64_t time = plan.time - (now() - begun), slice, patience = now() + (plan.time > 0 ? time / (2 * left) : 0);

	choose();
	for (i = 0; i < tasked; i++)
		if (lacks(&tasks[i]))
			todo[n++] = i;
	shuffle(todo, n);
	any = n > 0;
	slice = any ? time / left / n : 0;
	while (n > 0 && !over()) {
		i = next(todo, n);
		patient = now() < patience;
		if (i < 0 && patient) {
			together(&again);
			continue;
		}
		i = larger(i, 0);
		if (!call_on(&tasks[todo[i]], slice) || !patient)
			memmove(todo + i, todo + i + 1, (size_t)(--n - i) * sizeof *todo);
	}
	free(todo);
	return any && !over();
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
	struct order end = {1, 0, 0, 0, 0, 0, 0, 0};
	int left;

	begun = now();
	reserve();
	tasks = room((size_t)plan.cells * STAGES * sizeof *tasks);
	tasked = 0;
	if (!steadied++ && plan.warmup > 0)
		steady();
	survey();
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
	for (i = 0; i < tasked; i++)
		free(tasks[i].visits);
	free(tasks);
	tasks = NULL;
	tasked = 0;
}
