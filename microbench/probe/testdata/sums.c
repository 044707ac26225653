/* What is made of the times of four ranks, as conduct.c does: for each way to begin the number of rounds that count, and the samples of each timer. MPI is not started. */
#define main probe
#define COLLECTIVES
#include "../program/probe.c"
#undef main

enum { FOUR = 4, THREE = 3 };

static void show(int way, const int64_t *times)
{
	struct passage p;
	int timer, i, good;

	memset(&p, 0, sizeof p);
	p.way = way;
	gathered = room(8 * FOUR * THREE);
	memcpy(gathered, times, 8 * FOUR * THREE);
	good = sum_up(&p, THREE);
	printf("%d:", good);
	for (timer = 0; timer < ways[way].timers; timer++) {
		printf(" %s", ways[way].names[timer]);
		for (i = 0; i < p.samples; i++)
			printf(" %d", (int)p.times[timer][i]);
	}
	printf("\n");
}

int main(void)
{
	/* three rounds of each rank, one rank after another */
	static const int64_t all[] = {7, 4, 2, 5, 1, 8, 9, 6, 1, 11, 3, 2}, late[] = {7, 4, 2, 5, TOO_LATE, 8, 9, 6, 1, 11, 3, 2};

	ranks = FOUR;
	show(0, all);
	show(1, all);
	show(1, late);
	return 0;
}
