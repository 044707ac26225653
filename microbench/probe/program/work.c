/* ---- a fixed piece of work ---- */

/*
 * A core may run something else besides a rank, on another of its threads. What the rank does alone takes up to twice as long then. What tells is a piece of
 * work that keeps all units of the core busy: as in package microbench both ranks time it before and after each command.
 */

enum { STEPS = 20 }; /* of the clock that the work takes at least, or its time tells nothing */

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

/* work_took returns how long it takes, in ns; 0 if the steps of the clock are too long to tell. */
static int64_t work_took(void)
{
	int64_t begin = now(), took;

	worked = work();
	took = now() - begin;
	return took * 1000 >= STEPS * resolution ? took : 0;
}

static int64_t longer(int64_t a, int64_t b) { return a > b ? a : b; }
