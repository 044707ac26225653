/* ---- orders ---- */

/* P1 leads: what is measured next, and how often, depends on what was seen. P2 follows its orders. */
struct order {
	int end;  /* nothing any more */
	int look; /* no more than how quickly processors work */
	int cell, stage;
	int samples; /* with each root, PORTION at most */
	int batch;
	int unkept;    /* rounds with each root before them whose samples are thrown away */
	int64_t delta; /* ns */
};

static int64_t lasted[2];     /* ns: the samples with each root */
static int64_t before, after; /* ns: how long the work of a look took, right before and right after them */
static int64_t slower[2];     /* the longer one of each rank's looks */

static void run(const struct order *o)
{
	const struct stage *s = &stages[o->stage];
	int64_t begin;

	for (at.root = 0; at.root < 2; at.root++) {
		memset(taken.summed, 0, sizeof taken.summed);
		memset(taken.sum, 0, sizeof taken.sum);
		at.idle = 1;
		s->run(o->unkept * (s->batches ? 1 : at.batch));
		at.idle = 0;
		begin = now();
		s->run(o->samples * (s->batches ? 1 : at.batch));
		lasted[at.root] = now() - begin;
	}
}

/* bring brings P2's samples to P1. */
static void bring(const struct stage *s)
{
	int timer, root, *n;

	for (timer = s->at_p1; timer < s->timers; timer++)
		for (root = 0; root < 2; root++) {
			n = &taken.n[timer][root];
			if (p1)
				*n = taken.n[0][root];
			if (*n > 0 && p1)
				MPI_Recv(taken.times[timer][root], 8 * *n, MPI_BYTE, peer, SAMPLES, meeting, MPI_STATUS_IGNORE);
			else if (*n > 0)
				MPI_Send(taken.times[timer][root], 8 * *n, MPI_BYTE, peer, SAMPLES, meeting);
		}
}

static void measure_ordered(const struct order *o)
{
	memset(taken.n, 0, sizeof taken.n);
	at.mode = &modes[cells[o->cell].mode];
	at.bytes = cells[o->cell].bytes;
	at.batch = o->batch;
	at.delta = o->delta;
	lend();
	before = look();
	run(o);
	after = look();
	take_back();
	bring(&stages[o->stage]);
}

/* compare_looks tells P1 what P2 saw. */
static void compare_looks(void)
{
	int64_t looks[2][2] = {{before, before}, {after, after}}, theirs[2] = {before, after};
	int i;

	if (!p1) {
		MPI_Send(theirs, sizeof theirs, MPI_BYTE, peer, SAMPLES, meeting);
		return;
	}
	MPI_Recv(theirs, sizeof theirs, MPI_BYTE, peer, SAMPLES, meeting, MPI_STATUS_IGNORE);
	for (i = 0; i < 2; i++) {
		looks[i][1] = theirs[i];
		see(looks[i]);
	}
	for (i = 0; i < 2; i++)
		slower[i] = looks[0][i] > looks[1][i] ? looks[0][i] : looks[1][i];
}

/* obey does what is ordered; then P1 has the samples, and knows at which pace they were taken. */
static void obey(const struct order *o)
{
	if (o->look)
		before = after = look();
	else
		measure_ordered(o);
	compare_looks();
}

/* together does it on both ranks. */
static void together(struct order *o)
{
	MPI_Send(o, sizeof *o, MPI_BYTE, peer, ORDER, meeting);
	if (!o->end)
		obey(o);
}

static void follow(void)
{
	struct order o;

	reserve();
	for (;;) {
		MPI_Recv(&o, sizeof o, MPI_BYTE, peer, ORDER, meeting, MPI_STATUS_IGNORE);
		if (o.end)
			return;
		obey(&o);
	}
}
