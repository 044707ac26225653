/* ---- at which pace processors work ---- */

/*
 * A core may run something else besides a rank, on another of its threads. What the rank does alone takes up to twice as long then. What tells is a piece of
 * work that keeps all units of the core busy: as in package microbench both ranks look before and after each visit how long that takes.
 */

enum {
	SHORTEST = 256, /* looks that are known, */
	CHANCE = 4,     /* of which so many may be shorter than at the best moments, */
	CHANCES = 500,  /* and one more in so many: as the clock was read late before the work or early behind it, or by another core */
	FAIR = 11,      /* tenths of what the work takes at the best moments: so long it may take at full pace */
	STEPS = 20      /* of the clock that it takes at least, or no look tells anything */
};

/* Which of the two processors is slowed. */
enum { QUICK, SLOWED_P1, SLOWED_P2, SLOWED_BOTH, STATES, ANY };

static const char *const paces[STATES] = {"full", "p1", "p2", "both"};

static struct {
	int64_t least[2][SHORTEST]; /* ns: the shortest looks of P1 and of P2 in the launch, in order */
	int64_t last[2];
	int seen;
} pace;

#ifdef __GNUC__
#define APART __attribute__((noinline))
#define UNFORESEEN(x) __asm__ volatile("" : "+r"(x)) /* and in a register of its own: no chain is left out or joined to another */
#else
#define APART
#define UNFORESEEN(x) ((void)0)
#endif

static volatile uint64_t worked; /* keeps the work from being left out */

static inline uint64_t step(uint64_t a, uint64_t b, int shift)
{
	uint64_t x = a >> shift;

	UNFORESEEN(x);
	return a + (b ^ x);
}

/* work is what a core does in two microseconds or so: six chains of operations that do not wait for each other, in registers. */
static APART uint64_t work(void)
{
	uint64_t a = 1 + worked, b = 2 + worked, c = 3 + worked, d = 4 + worked, e = 5 + worked, f = 6 + worked;
	int i;

	for (i = 0; i < 1500; i++) {
		a = step(a, 5, 3);
		b = step(b, 6, 5);
		c = step(c, 7, 7);
		d = step(d, 8, 9);
		e = step(e, 9, 11);
		f = step(f, 10, 13);
	}
	return a + b + c + d + e + f;
}

/* look does the work, and returns how many ns it took. */
static int64_t look(void)
{
	int64_t begin = now();

	worked = work();
	return now() - begin;
}

/* see takes notice of looks of P1 and P2. */
static void see(const int64_t *looks)
{
	int64_t *least;
	int r, i;

	for (r = 0; r < 2; r++) {
		least = pace.least[r];
		for (i = smaller(pace.seen, SHORTEST); i > 0 && least[i - 1] > looks[r]; i--)
			if (i < SHORTEST)
				least[i] = least[i - 1];
		if (i < SHORTEST)
			least[i] = looks[r];
		pace.last[r] = looks[r];
	}
	pace.seen++;
}

/* here is how long the work takes a rank at the best moments of the launch, and best at those of launches before it as well. */
static int64_t here(int r)
{
	int n = smaller(smaller(pace.seen, SHORTEST) - 1, CHANCE + pace.seen / CHANCES);

	return n < 0 ? 0 : pace.least[r][n];
}

static int64_t best(int r) { return plan.best[r] > 0 && plan.best[r] < here(r) ? plan.best[r] : here(r); }

/* looked says whether anybody could. */
static int looked(void) { return here(0) * 1000 >= STEPS * resolution && here(1) * 1000 >= STEPS * resolution; }

/* state_of is that in which looks were. */
static int state_of(const int64_t *looks)
{
	if (!looked())
		return QUICK;
	return (10 * looks[0] > FAIR * best(0) ? SLOWED_P1 : 0) | (10 * looks[1] > FAIR * best(1) ? SLOWED_P2 : 0);
}

/* is_alone says whether a timer of a mode is of what P1 does by itself, and takes as long whatever P2 does. */
static int is_alone(const struct mode *m, const char *timer)
{
	if (strcmp(timer, "timer12") == 0)
		return 1;
	return m->send != MPI_Ssend && (strcmp(timer, "timer11") == 0 || strcmp(timer, "idle") == 0 || strcmp(timer, "train") == 0);
}

/* part is the part of a state that such a timer depends on. */
static int part(int state, int alone) { return alone ? state & SLOWED_P1 : state; }
