/*
 * The program's round trips beside those of a plain ping-pong as everybody writes it, in turns, in one launch: plain TURNS BYTES... P1 prints for each size the
 * medians of half a round trip in nanoseconds: of the program, by the commands that the scheduler gives, and of a ping-pong with a buffer to send from and one
 * to receive into, as in the OSU and Intel benchmarks.
 */
#define main probe
#include "../program/probe.c"
#undef main

enum { MOST_TURNS = 200, TRIPS = 50, VISIT = 5 };

static double halves[2][MOST_TURNS * VISIT]; /* ns */
static int count[2];

static double plain_trip(char *from, char *into, int bytes)
{
	int64_t begin;
	int k;

	MPI_Barrier(MPI_COMM_WORLD);
	begin = now();
	for (k = 0; k < TRIPS; k++) {
		if (p1) {
			MPI_Send(from, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
			MPI_Recv(into, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(into, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(from, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
		}
	}
	return (double)(now() - begin) / TRIPS / 2;
}

/* probed does a command of round trips, 50 to a sample. */
static void probed(int bytes)
{
	struct command c = {DO, 2, 0, 0, bytes, 3, VISIT, TRIPS, 1000};
	int i;

	prepare(&c);
	run_stage(&c);
	take_back();
	for (i = 0; i < VISIT; i++)
		halves[0][count[0]++] = (double)taken.times[0][i % 2][i] / 2000;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of(double *x, int n)
{
	qsort(x, (size_t)n, sizeof *x, by_value);
	return x[n / 2];
}

int main(int argc, char **argv)
{
	int i, turn, turns, bytes;
	char *from, *into;

	start(&argc, &argv, 2);
	p1 = rank == 0;
	peer = !rank;
	turns = argc > 1 ? atoi(argv[1]) : 0;
	if (turns < 1 || turns > MOST_TURNS)
		return 2;
	for (i = 2; i < argc; i++) {
		bytes = atoi(argv[i]);
		from = room((size_t)bytes);
		into = room((size_t)bytes);
		count[0] = count[1] = 0;
		for (turn = 0; turn < turns; turn++) {
			probed(bytes);
			halves[1][count[1]++] = plain_trip(from, into, bytes);
		}
		if (p1)
			printf("%d %.1f %.1f\n", bytes, median_of(halves[0], count[0]), median_of(halves[1], count[1]));
		free(from);
		free(into);
	}
	MPI_Finalize();
	return 0;
}
