/* ---- the timers ---- */

enum {
	BURST = 32,      /* microbench.Burst */
	CARRIAGES = 10,  /* microbench.Carriages: messages of a round-trip train */
	TIMERS = 4,      /* of a stage, at most */
	PORTION = 1024,  /* samples taken at a time, at most */
	FINE = 20000,    /* ps: steps of a clock that do not matter where there are many samples */
	ENOUGH = 20000   /* ns that a sample of round trips should last: what begins and ends it shall not show */
};

#ifndef BATCH
#define BATCH 64 /* operations in a sample, at most */
#endif

/* taken are the samples of a visit: of each timer, with each root. */
static struct {
	int64_t times[TIMERS][2][PORTION];
	int n[TIMERS][2];
	int64_t sum[TIMERS]; /* of the operations of the next sample */
	int summed[TIMERS];
} taken;

/* put adds a sample to a timer of the stage. */
static void put(int timer, int64_t t)
{
	int *n = &taken.n[timer][at.root];

	if (!at.idle && *n < PORTION)
		taken.times[timer][at.root][(*n)++] = t;
}

/* add adds what one operation took. A sample is the mean of a batch. */
static void add(int timer, int64_t t)
{
	taken.sum[timer] += t;
	if (++taken.summed[timer] < at.batch)
		return;
	put(timer, (taken.sum[timer] + at.batch / 2) / at.batch);
	taken.sum[timer] = taken.summed[timer] = 0;
}

/* ping_pong is figure 2 of package microbench. */
static void ping_pong(int rounds)
{
	int64_t first, second;
	int i;

	for (i = 0; i < rounds; i++) {
		if (p1) {
			first = timed_send();
			second = timed_receive(1);
			add(0, first);
			add(1, second);
		} else {
			first = timed_receive(0);
			second = timed_send();
			add(2, first);
			add(3, second);
		}
	}
}

/* idle_send times the send call once more, after a wait; P2 is in its receive. */
static void idle_send(int rounds)
{
	int64_t begin, end;
	MPI_Request r;
	int i;

	for (i = 0; i < rounds; i++) {
		if (!p1) {
			timed_receive(0);
			continue;
		}
		barrier();
		pause_p1();
		begin = now();
		r = send();
		end = now();
		complete(r);
		add(0, elapsed(begin, end, 1));
	}
}

/* meet begins a sample of round trips with one that does not count, which leaves P2 in its receive, and both with everything at hand. */
static void meet(void)
{
	barrier();
	if (p1)
		trip();
	else
		answer();
}

/* round_trip times a batch of sends and receives of answers as long. Of calls that do not block, the receive is completed, and then the send. */
static void round_trip(int rounds)
{
	MPI_Request sent;
	int64_t begin;
	int i, k;

	for (i = 0; i < rounds; i++) {
		meet();
		if (!p1) {
			for (k = 0; k < at.batch; k++)
				answer();
			continue;
		}
		sent = MPI_REQUEST_NULL;
		begin = now();
		for (k = 0; k < at.batch; k++) {
			complete(sent);
			sent = send();
			complete(receive());
		}
		put(0, elapsed(begin, now(), at.batch));
		complete(sent);
	}
}

/* burst times a burst: the mean interval between the ends of consecutive sends. */
static void burst(int rounds)
{
	MPI_Request sent[BURST];
	int64_t first = 0;
	int i, k;

	for (i = 0; i < rounds; i++) {
		barrier();
		if (!p1) {
			for (k = 0; k < BURST; k++)
				complete(receive());
			continue;
		}
		pause_p1();
		for (k = 0; k < BURST; k++) {
			sent[k] = send();
			if (k == 0)
				first = now();
		}
		add(0, elapsed(first, now(), BURST - 1));
		for (k = 0; k < BURST; k++)
			complete(sent[k]);
	}
}

/*
 * trains times PRTT(n, d, s) of Hoefler et al. (2007): n messages, d between them, and the answer to the last. The waits are taken out, by what they really
 * took. The last reading of the clock is before sends that do not block are completed: the answer says that they are.
 */
static void trains(int rounds, int64_t d)
{
	MPI_Request sent[CARRIAGES];
	int64_t begin, waited, t;
	int i, k;

	for (i = 0; i < rounds; i++) {
		meet();
		if (!p1) {
			for (k = 1; k < CARRIAGES; k++)
				complete(receive());
			answer();
			continue;
		}
		waited = 0;
		begin = now();
		for (k = 0; k < CARRIAGES; k++) {
			if (d > 0 && k > 0)
				waited += linger(d);
			sent[k] = send();
		}
		complete(receive());
		t = elapsed(begin, now(), 1) - waited;
		add(0, t > 0 ? t : 0);
		for (k = 0; k < CARRIAGES; k++)
			complete(sent[k]);
	}
}

static void quick_train(int rounds) { trains(rounds, 0); }

/* slow_train waits for longer than a round trip, so that no send is hindered by the one before. */
static void slow_train(int rounds) { trains(rounds, at.delta / 2); }

/* ---- which of them a cell has, and how often ---- */

static int always(const struct mode *m) { return m != NULL; }
static int answered(const struct mode *m) { return m->streams || (m->blocking && !m->ready); }
static int streams(const struct mode *m) { return m->streams; }

static int larger(int a, int b) { return a > b ? a : b; }
static int smaller(int a, int b) { return a < b ? a : b; }

/* As in package microbench, of so many repetitions of the paper's timers. */
static int repeated(int reps) { return reps; }
static int seldom(int reps) { return larger(1, reps / 4); }
static int rarely(int reps) { return larger(smaller(reps, 10), reps / 16); }

struct stage {
	int (*serves)(const struct mode *);
	int (*rounds)(int reps);
	void (*run)(int rounds);
	int batches;   /* a round is a batch by itself; else a batch is so many rounds */
	int which;     /* the smallest choice of timers that has it */
	int waits;     /* for delta, in a round; and what else it takes, */
	int trips;     /* in round trips of a message of the size, at most */
	int at_p1;     /* so many of its timers, */
	int timers;    /* of these */
	const char *names[TIMERS];
};

static const struct stage stages[] = {
	{always, repeated, ping_pong, 0, BRIEF_TIMERS, 1, 4, 2, 4, {"timer11", "timer12", "timer21", "timer22"}},
	{always, seldom, idle_send, 0, ALL_TIMERS, 1, 2, 1, 1, {"idle"}},
	{answered, seldom, round_trip, 1, TRIP_TIMERS, 0, 3, 1, 1, {"rtt"}},
	{streams, rarely, burst, 0, ALL_TIMERS, 1, BURST / 2 + 1, 1, 1, {"train"}},
	{streams, rarely, quick_train, 0, ALL_TIMERS, 0, CARRIAGES / 2 + 3, 1, 1, {"prtt10"}},
	{streams, rarely, slow_train, 0, ALL_TIMERS, 5, CARRIAGES / 2 + 3, 1, 1, {"prtt10-d"}},
};
enum { STAGES = sizeof stages / sizeof *stages };
