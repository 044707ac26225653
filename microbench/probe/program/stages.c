/* ---- the timers ---- */

enum {
	BURST = 32,      /* microbench.Burst */
	CARRIAGES = 10,  /* microbench.Carriages: messages of a round-trip train */
	TIMERS = 4       /* of a stage, at most */
};

/* taken are the samples of a command: of each timer, with each root. */
static struct {
	int64_t times[TIMERS][2][MOST_ROUNDS];
	int n[TIMERS][2];
	int64_t sum[TIMERS]; /* of the operations of the next sample */
	int summed[TIMERS];
} taken;

/* put adds a sample to a timer of the stage. */
static void put(int timer, int64_t t)
{
	int *n = &taken.n[timer][at.root];

	if (!at.idle && *n < MOST_ROUNDS)
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
		r = send_message();
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
			sent = send_message();
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
			sent[k] = send_message();
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
			sent[k] = send_message();
		}
		complete(receive());
		t = elapsed(begin, now(), 1) - waited;
		add(0, t > 0 ? t : 0);
		for (k = 0; k < CARRIAGES; k++)
			complete(sent[k]);
	}
}

static void quick_train(int rounds) { trains(rounds, 0); }

/* slow_train waits for about a round trip, so that no send is hindered by the one before. */
static void slow_train(int rounds) { trains(rounds, at.delta); }

struct stage {
	void (*run)(int rounds);
	int at_p1;  /* so many of its timers, */
	int timers; /* of these, are taken by P1 */
	const char *name; /* the first timer */
};

/* The stages by their numbers in package microbench; of a library that is not ours some have no meaning. */
static const struct stage stages[] = {
	{ping_pong, 2, 4, "timer11"}, {idle_send, 1, 1, "idle"}, {round_trip, 1, 1, "rtt"}, {burst, 1, 1, "train"},
	{NULL, 0, 0, "-"}, {NULL, 0, 0, "-"}, {quick_train, 1, 1, "prtt10"}, {slow_train, 1, 1, "prtt10-d"},
};
enum { STAGES = sizeof stages / sizeof *stages, BEHIND_BARRIER = STAGES, AT_ONCE };

/* prepare sets what a command is of. */
static void prepare(const struct command *c)
{
	if (c->stage < 0 || c->stage >= STAGES || stages[c->stage].run == NULL || c->mode < 0 || c->mode >= MODES)
		fail("a command of stage %" PRId64 " and mode %" PRId64 ", which are none", c->stage, c->mode);
	at.mode = &modes[c->mode];
	at.bytes = (int)c->bytes;
	at.batch = (int)c->batch;
	at.delta = (c->wait + 999) / 1000;
	out = larger_room(out, &out_room, (size_t)at.bytes);
	in = larger_room(in, &in_room, (size_t)at.bytes);
	memset(taken.n, 0, sizeof taken.n);
	lend();
}

static int64_t round_took; /* ps: the shortest of the rounds that did not count */

/* run_stage goes through the rounds of a command: with each root those that do not count, and those that do. Without any that count those that do not are
 * timed. */
static void run_stage(const struct command *c)
{
	int64_t begin, i, unkept = c->warm, again = c->rounds / 2;

	at.idle = 1;
	at.root = 0;
	for (i = 0; c->rounds == 0 && i < c->warm; i++) {
		at.delta = 0;
		begin = now();
		ping_pong(1);
		begin = (now() - begin) * 1000;
		round_took = i == 0 || begin < round_took ? begin : round_took;
	}
	for (at.root = 0; c->rounds > 0 && at.root < 2; at.root++) {
		memset(taken.summed, 0, sizeof taken.summed);
		memset(taken.sum, 0, sizeof taken.sum);
		at.idle = 1;
		stages[c->stage].run((int)unkept);
		at.idle = 0;
		stages[c->stage].run((int)c->rounds);
		again = again > 1 ? again : 1;
		again = again < 3 ? again : 3;
		unkept = unkept < again ? unkept : again; /* Command.Rewarm */
	}
}

/* bring brings P2's samples to P1. */
static void bring(const struct command *c)
{
	const struct stage *s = &stages[c->stage];
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
