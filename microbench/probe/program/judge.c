/* ---- how well a median is known ---- */

struct estimate { double value, half; }; /* ps: a median, and half of its 95 % interval */

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static double root_of(double x)
{
	double r = x > 1 ? x : 1;
	int i;

	for (i = 0; i < 60; i++) /* Heron; the mathematical library would have to be linked */
		r = (r + x / r) / 2;
	return r;
}

/*
 * median_of sorts n times. The interval is that by ranks,
 *
 *	⌊(n − 1.96 √n)/2⌋ to ⌈1 + (n + 1.96 √n)/2⌉
 *
 * of Hoefler and Belli (2015), as in package microbench. Of too few samples it is without end.
 */
static struct estimate median_of(int64_t *times, int n)
{
	struct estimate e = {0, 1e300};
	double width = 1.96 * root_of(n);
	int low = (int)((n - width) / 2), high = (int)(1 + (n + width) / 2);

	if (n == 0)
		return e;
	qsort(times, n, sizeof *times, by_time);
	e.value = (times[(n - 1) / 2] + times[n / 2]) / 2.0;
	if (high < 1 + (n + width) / 2)
		high++;
	if (n > width && low >= 1 && high <= n)
		e.half = (times[high - 1] - times[low - 1]) / 2.0;
	return e;
}

static int within(struct estimate e, double precision)
{
	double enough = precision * e.value;

	return e.half <= (enough > resolution / 2.0 ? enough : resolution / 2.0);
}
