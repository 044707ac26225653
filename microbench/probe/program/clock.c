/* ---- the clock ---- */

static int64_t cost;       /* ps: of reading the clock once */
static int64_t resolution; /* ps: of what it shows */

static inline int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* step_of is the step of a clock, of which n times are multiples: the least gap between any two of them, or between one and zero. They are rounded to whole
 * nanoseconds, so that two that are neighbours may be one, and three are not. */
static int64_t step_of(int64_t *times, int n)
{
	int64_t least = INT64_MAX, before = 0, last = 0;
	int k, seen = 1; /* different times, zero among them; before and last are the latest two */

	qsort(times, (size_t)n, sizeof *times, by_length);
	for (k = 0; k < n; k++) {
		int64_t gap = times[k] - last;

		if (gap == 0)
			continue;
		if (gap < least && (gap > 1 || (seen > 1 && times[k] - before == 2)))
			least = gap;
		before = last;
		last = times[k];
		seen++;
	}
	return least == INT64_MAX ? 1 : least;
}

/* turn passes the time. */
static void turn(int n)
{
	volatile int i;

	for (i = 0; i < n; i++)
		;
}

/* Who waits until a clock with steps shows a time goes on right behind a step, always at the same distance: what it times then is rounded by as much each time. So it goes on from all places
 * between two steps, by turns: phases are parts of a step, and follow each other by the golden section. */
static double turns, phase; /* turns in a step */

static void dither(void)
{
	phase += 0.6180339887498949;
	if (phase >= 1)
		phase--;
	turn((int)(phase * turns));
}

/* calibrate finds out what the clock shows, by times with ever other work between two readings, so that they differ by all that it can tell apart; and what reading it costs, by the quickest
 * of some rounds. */
static void calibrate(void)
{
	enum { ROUNDS = 20, READINGS = 1000, WORK = 64, TURNS = 20000 };
	static int64_t times[2 * ROUNDS * WORK];
	int64_t begin, last, took, least = INT64_MAX;
	int i, k;

	cost = INT64_MAX;
	for (i = 0; i < ROUNDS; i++) {
		begin = last = now();
		for (k = 0; k < READINGS; k++)
			last = now();
		took = (last - begin) * 1000 / READINGS;
		cost = took < cost ? took : cost;
	}
	for (i = 0; i < 2 * ROUNDS * WORK; i++) {
		begin = now();
		turn(i % WORK);
		times[i] = now() - begin;
	}
	resolution = step_of(times, 2 * ROUNDS * WORK) * 1000;
	for (i = 0; i < ROUNDS; i++) {
		begin = now();
		turn(TURNS);
		took = now() - begin;
		least = took < least ? took : least;
	}
	turns = least > 0 ? TURNS * (double)resolution / 1000 / (double)least : 0;
}

/* elapsed is the time, in ps, of one of n things that took from begin to end, without that of reading the clock. */
static int64_t elapsed(int64_t begin, int64_t end, int n)
{
	int64_t t = (end - begin) * 1000 - cost;

	return t > 0 ? (t + n / 2) / n : 0; /* what is shorter than the clock can tell */
}

/* linger waits for so many ns without a call of MPI, and returns how many ps later that makes the next reading of the clock. */
static int64_t linger(int64_t ns)
{
	int64_t begin = now(), end;

	do
		end = now();
	while (end - begin < ns);
	return (end - begin) * 1000 + cost;
}
