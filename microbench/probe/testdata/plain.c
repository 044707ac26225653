/*
 * The program's round trips beside those of a plain ping-pong as everybody writes it, in turns, in one launch: plain DIRECTORY SECONDS BYTES... P1 leaves a
 * file plain.0, which has for each size the medians of half a round trip in nanoseconds: of the program, of a ping-pong with a buffer to send
 * from and one to receive into, as in the OSU and Intel benchmarks, of one that sends back what it received, and of the first with a look at the clock
 * after each trip. Of the two between a number is the mean of 50 trips, which one trip that was held up makes longer; of the others it is one of few trips,
 * or of one.
 */
#define main probe
#include "../program/probe.c"
#undef main

enum { TURNS = 20, BLOCKS = 10, TRIPS = 50, VISIT = 5, SINGLY = 3, WAYS = 4, SIZES = 64 };

static int64_t halves[WAYS][TURNS * BLOCKS]; /* ps */
static int taken_of[WAYS];
static double medians[SIZES][WAYS];

static void there_and_back(char *from, char *into, int bytes)
{
	if (rank == 0) {
		MPI_Send(from, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(into, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(into, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(from, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	}
}

static double ping_pong_of(char *from, char *into, int bytes)
{
	double begin;
	int k;

	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (k = 0; k < TRIPS; k++)
		there_and_back(from, into, bytes);
	return (MPI_Wtime() - begin) / TRIPS / 2;
}

/* singly_of returns the median of as many trips, in s. */
static double singly_of(char *from, char *into, int bytes)
{
	int64_t took[TRIPS], begin, end;
	int k;

	MPI_Barrier(MPI_COMM_WORLD);
	begin = now();
	for (k = 0; k < TRIPS; k++) {
		there_and_back(from, into, bytes);
		end = now();
		took[k] = elapsed(begin, end, 1);
		begin = end;
	}
	return median_of(took, TRIPS).value / 1e12 / 2;
}

static void plainly_of(int way, char *from, char *into, int bytes)
{
	int i;

	for (i = 0; i < BLOCKS; i++)
		halves[way][taken_of[way]++] = (int64_t)((way == SINGLY ? singly_of : ping_pong_of)(from, into, bytes) * 1e12);
}

/* probed lets the program take a few samples. */
static void probed(struct task *t)
{
	struct order end = {1, 0, 0, 0, 0, 0, 0, 0};

	if (p1) {
		visit(t, VISIT);
		together(&end);
	} else {
		follow();
	}
}

/* rtt_of returns P1's task of round trips of a cell. */
static struct task *rtt_of(int cell)
{
	int i;

	if (!p1)
		return NULL;
	tasked = 0;
	begin_cell(cell, 0);
	for (i = 0; strcmp(stages[tasks[i].stage].names[0], "rtt") != 0; i++)
		;
	return &tasks[i];
}

static void compare(int cell, char *from, char *into)
{
	struct task *t = rtt_of(cell);
	int turn, way;

	memset(taken_of, 0, sizeof taken_of);
	for (turn = 0; turn < TURNS; turn++) {
		probed(t);
		plainly_of(1, from, into, cells[cell].bytes);
		plainly_of(2, from, from, cells[cell].bytes);
		plainly_of(SINGLY, from, into, cells[cell].bytes);
	}
	if (p1)
		medians[cell][0] = estimate(t, 0, ANY).value / 2000;
	for (way = 1; way < WAYS; way++)
		medians[cell][way] = median_of(halves[way], taken_of[way]).value / 1000;
}

static void write_medians(FILE *f)
{
	int i;

	for (i = 0; i < plan.cells; i++)
		fprintf(f, "%d %.1f %.1f %.1f %.1f\n", cells[i].bytes, medians[i][0], medians[i][1], medians[i][2], medians[i][SINGLY]);
}

int main(int argc, char **argv)
{
	char *from, *into;
	int i;

	directory = argv[1];
	patience = (unsigned)strtoul(argv[2], NULL, 10);
	plan.cells = argc - 3;
	plan.most = 1000000;
	plan.warmup = 10;
	start(&argc, &argv, 2);
	cells = room(plan.cells * sizeof *cells);
	for (i = 0; i < plan.cells; i++) {
		cells[i].mode = find_mode("send");
		cells[i].bytes = atoi(argv[3 + i]);
		cells[i].which = ALL_TIMERS;
	}
	reserve();
	tasks = room(STAGES * sizeof *tasks);
	from = room(rooms);
	into = room(rooms);
	for (i = 0; i < plan.cells; i++)
		compare(i, from, into);
	if (p1)
		write_file("plain", 0, write_medians);
	MPI_Finalize();
	return 0;
}
