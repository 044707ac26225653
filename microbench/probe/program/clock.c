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

/* linger waits for so many ns without a call of MPI, and returns how many ps later that makes the next reading of the clock. */
static int64_t linger(int64_t ns)
{
	int64_t begin = now(), end;

	do
		end = now();
	while (end - begin < ns);
	return (end - begin) * 1000 + cost;
}
