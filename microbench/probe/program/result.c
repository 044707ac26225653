/* ---- the result ---- */

/* write_times writes those of a timer, first with the root P1 and then with P2, and returns their sum. */
static uint64_t write_times(FILE *f, const struct task *t, int timer)
{
	const struct cell *c = &cells[t->cell];
	uint64_t sum = 0;
	int root, i;

	fprintf(f, "series %s %d %s %d\n", modes[c->mode].name, c->bytes, stages[t->stage].names[timer], 2 * t->samples);
	for (root = 0; root < 2; root++)
		for (i = 0; i < t->samples; i++) {
			fprintf(f, "%" PRId64 "\n", t->times[timer][root][i]);
			sum += (uint64_t)t->times[timer][root][i];
		}
	return sum;
}

static void write_result(FILE *f)
{
	uint64_t sum = 0, samples = 0;
	int i, timer;

	fprintf(f, "loggp-probe 2\n");
	write_facts(f);
	for (i = 0; i < tasked; i++)
		for (timer = 0; timer < stages[tasks[i].stage].timers; timer++) {
			sum += write_times(f, &tasks[i], timer);
			samples += 2 * (uint64_t)tasks[i].samples;
		}
	fprintf(f, "end %" PRIu64 " %" PRIu64 "\n", samples, sum);
}
