/* ---- the result ---- */

static uint64_t written, written_sum; /* samples */

static void write_head(FILE *f)
{
	fprintf(f, "loggp-probe 3\n");
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

/* write_times writes those of a timer, first with the root P1 and then with P2. */
static void write_times(FILE *f, const struct task *t, int timer)
{
	const struct cell *c = &cells[t->cell];

	fprintf(f, "series %s %d %s %d\n", modes[c->mode].name, c->bytes, stages[t->stage].names[timer], 2 * t->samples);
	write_samples(f, t->times[timer][0], t->samples);
	write_samples(f, t->times[timer][1], t->samples);
}

static void write_result(FILE *f)
{
	int i, timer;

	write_head(f);
	for (i = 0; i < tasked; i++)
		for (timer = 0; timer < stages[tasks[i].stage].timers; timer++)
			write_times(f, &tasks[i], timer);
	write_end(f);
}
