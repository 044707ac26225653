/* ---- collective operations ---- */

/* What is being called, on all ranks. Rank 0 is the root. What is given and what is got is for all sizes, so that it stays where it was: in the caches. */
static struct {
	char *given, *got;
	int count; /* elements of a block */
	MPI_Datatype type;
	int *counts; /* the same for each rank */
} act;
static size_t given_room, got_room;

static void do_barrier(void) { MPI_Barrier(comm); }
static void do_bcast(void) { MPI_Bcast(act.got, act.count, act.type, 0, comm); }
static void do_scatter(void) { MPI_Scatter(act.given, act.count, act.type, act.got, act.count, act.type, 0, comm); }
static void do_gather(void) { MPI_Gather(act.given, act.count, act.type, act.got, act.count, act.type, 0, comm); }
static void do_allgather(void) { MPI_Allgather(act.given, act.count, act.type, act.got, act.count, act.type, comm); }
static void do_alltoall(void) { MPI_Alltoall(act.given, act.count, act.type, act.got, act.count, act.type, comm); }
static void do_reduce(void) { MPI_Reduce(act.given, act.got, act.count, act.type, MPI_SUM, 0, comm); }
static void do_allreduce(void) { MPI_Allreduce(act.given, act.got, act.count, act.type, MPI_SUM, comm); }
static void do_reduce_scatter(void) { MPI_Reduce_scatter(act.given, act.got, act.counts, act.type, MPI_SUM, comm); }
static void do_scan(void) { MPI_Scan(act.given, act.got, act.count, act.type, MPI_SUM, comm); }

struct operation {
	const char *name;
	int gives, gets; /* a rank: BLOCK, or ALL, one for each rank; else nothing */
	void (*call)(void);
};

enum { NOTHING, BLOCK, ALL };

static const struct operation operations[] = {
	{"barrier", NOTHING, NOTHING, do_barrier}, {"bcast", NOTHING, BLOCK, do_bcast},
	{"scatter", ALL, BLOCK, do_scatter},       {"gather", BLOCK, ALL, do_gather},
	{"allgather", BLOCK, ALL, do_allgather},   {"alltoall", ALL, ALL, do_alltoall},
	{"reduce", BLOCK, BLOCK, do_reduce},       {"allreduce", BLOCK, BLOCK, do_allreduce},
	{"reduce-scatter", ALL, BLOCK, do_reduce_scatter}, {"scan", BLOCK, BLOCK, do_scan},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static size_t bytes_of(int blocks, int bytes)
{
	return blocks == ALL ? (size_t)ranks * (size_t)bytes : blocks == BLOCK ? (size_t)bytes : 0;
}

/* take_up gets ready to call an operation with blocks of some bytes: elements that are added up are of 8 bytes if those can be divided into such, or else of one. */
static void take_up(int bytes)
{
	int r;

	if (act.counts == NULL)
		act.counts = room((size_t)ranks * sizeof *act.counts);
	act.type = bytes % (int)sizeof(double) == 0 ? MPI_DOUBLE : MPI_UNSIGNED_CHAR;
	act.count = act.type == MPI_DOUBLE ? bytes / (int)sizeof(double) : bytes;
	for (r = 0; r < ranks; r++)
		act.counts[r] = act.count;
}
