/* ---- the result ---- */

static uint64_t written, written_sum; /* samples */

static void write_head(FILE *f)
{
	fprintf(f, "loggp-probe 4\n");
	write_facts(f);
	written = written_sum = 0;
}

static void write_samples(FILE *f, const int64_t *times, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		fprintf(f, "%" PRId64 "\n", times[i]);
		written_sum += (uint64_t)times[i];
	}
	written += (uint64_t)n;
}

static void write_end(FILE *f) { fprintf(f, "end %" PRIu64 " %" PRIu64 "\n", written, written_sum); }

/* write_part writes those of a timer in a state of the processors, first with the root P1 and then with P2. */
static void write_part(FILE *f, const struct task *t, int timer, int state)
{
	const struct cell *c = &cells[t->cell];
	int root, n = in_state(t, timer, 0, state);

	if (n == 0)
		return;
	fprintf(f, "series %s %d %s %s %d\n", modes[c->mode].name, c->bytes, stages[t->stage].names[timer], looked() ? paces[state] : "unknown", 2 * n);
	for (root = 0; root < 2; root++)
		write_samples(f, scratch, in_state(t, timer, root, state));
}

static void write_times(FILE *f, const struct task *t, int timer)
{
	int state;

	for (state = QUICK; state < STATES; state++)
		if (state == part(state, alone(t, timer)))
			write_part(f, t, timer, state);
}

static void write_result(FILE *f)
{
	int i, timer;

	write_head(f);
	fprintf(f, "looks %" PRId64 " %" PRId64 "\n", looked() ? here(0) : 0, looked() ? here(1) : 0);
	for (i = 0; i < tasked; i++)
		for (timer = 0; timer < stages[tasks[i].stage].timers; timer++)
			write_times(f, &tasks[i], timer);
	write_end(f);
}
