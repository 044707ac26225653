/* A random program with windows, whose results each rank knows: all ranks draw the same accesses
 * from the seed, and each carries out its own on the window, and everybody's on a model.
 *
 * The memory of each rank has a part for each origin, which that origin alone writes, and sums of
 * all. In each round one part is only read. Within a round a part has puts to different cells, or
 * accumulates, which of one origin are carried out in order. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 240, SUMS = 8, ROUNDS = 8, MAX_RANKS = 8, MEMORY = CELLS * MAX_RANKS + SUMS };
enum { PUT, REPLACE, ADD, FETCH, SWAP, SUM, GET, KINDS };
static unsigned long state;
static int rank, size;
static long model[MAX_RANKS][MEMORY];

static int draw(int n) {
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return (int)((state >> 33) % (unsigned)n);
}

struct access {
	int origin, target, kind, at, n, stride, swapped;
	long value, compare;
};

static long *cell(struct access *a, int i) { return &model[a->target][a->at + i * a->stride]; }

/* Carries out an access on the model; old has what was there. */
static void apply(struct access *a, long *old) {
	for (int i = 0; i < a->n; i++) {
		long *c = cell(a, i);
		old[i] = *c;
		if (a->kind == PUT || a->kind == REPLACE)
			*c = a->value + i;
		else if (a->kind == ADD || a->kind == FETCH || a->kind == SUM)
			*c += a->value + i;
		else if (a->kind == SWAP && *c == a->compare)
			*c = a->value;
	}
}

/* The elements of an access: in a row, at a stride, or at a stride by displacements. */
static MPI_Datatype elements(struct access *a, int form) {
	MPI_Datatype t;
	if (form == 0 && a->stride == 1)
		MPI_Type_contiguous(a->n, MPI_LONG, &t);
	else if (form == 1)
		MPI_Type_vector(a->n, 1, a->stride, MPI_LONG, &t);
	else {
		int at[CELLS];
		for (int i = 0; i < a->n; i++)
			at[i] = i * a->stride;
		MPI_Type_create_indexed_block(a->n, 1, at, MPI_LONG, &t);
	}
	MPI_Type_commit(&t);
	return t;
}

static void start(struct access *a, MPI_Win w, MPI_Aint base, int form, int request, long *data, long *result) {
	MPI_Datatype t = elements(a, form);
	MPI_Aint at = base < 0 ? a->at : base + a->at * (MPI_Aint)sizeof(long);
	MPI_Request q = MPI_REQUEST_NULL;
	MPI_Op op = a->kind == REPLACE ? MPI_REPLACE : MPI_SUM;
	for (int i = 0; i < a->n; i++)
		data[i] = a->value + i;
	if (a->kind == GET && request)
		MPI_Rget(result, a->n, MPI_LONG, a->target, at, 1, t, w, &q);
	else if (a->kind == GET)
		MPI_Get(result, a->n, MPI_LONG, a->target, at, 1, t, w);
	else if (a->kind == PUT && request)
		MPI_Rput(data, a->n, MPI_LONG, a->target, at, 1, t, w, &q);
	else if (a->kind == PUT)
		MPI_Put(data, a->n, MPI_LONG, a->target, at, 1, t, w);
	else if (a->kind == SWAP)
		MPI_Compare_and_swap(data, &a->compare, result, MPI_LONG, a->target, at, w);
	else if (a->kind == FETCH && a->n == 1)
		MPI_Fetch_and_op(data, result, MPI_LONG, a->target, at, op, w);
	else if (a->kind == FETCH && request)
		MPI_Rget_accumulate(data, a->n, MPI_LONG, result, a->n, MPI_LONG, a->target, at, 1, t, op, w, &q);
	else if (a->kind == FETCH)
		MPI_Get_accumulate(data, a->n, MPI_LONG, result, a->n, MPI_LONG, a->target, at, 1, t, op, w);
	else if (request)
		MPI_Raccumulate(data, a->n, MPI_LONG, a->target, at, 1, t, op, w, &q);
	else
		MPI_Accumulate(data, a->n, MPI_LONG, a->target, at, 1, t, op, w);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Type_free(&t);
}

static struct access all[MAX_RANKS * MAX_RANKS * 4];
static int count;

static void draw_round(int round) {
	count = 0;
	for (int origin = 0; origin < size; origin++)
		for (int target = 0; target < size; target++) {
			int next = 0, puts = draw(2);
			for (int k = draw(4); k > 0; k--) {
				struct access a = {origin, target, draw(KINDS), 0, 1 + draw(draw(2) ? CELLS / 2 : 3), 1 + draw(2), 0, draw(1000), draw(3)};
				if (a.kind == SUM) {
					a.n = a.n > SUMS / 2 ? SUMS / 2 : a.n;
					a.at = CELLS * size + draw(SUMS - (a.n - 1) * a.stride);
				} else if (a.kind == GET)
					a.at = CELLS * (round % size) + draw(CELLS - (a.n - 1) * a.stride);
				else if (origin == round % size)
					continue;
				else if (puts) {
					a.kind = PUT;
					if (next + (a.n - 1) * a.stride >= CELLS)
						continue;
					a.at = CELLS * origin + next;
					next += (a.n - 1) * a.stride + 1;
				} else {
					a.kind = a.kind == PUT ? REPLACE : a.kind;
					a.n = a.kind == SWAP ? 1 : a.n;
					a.at = CELLS * origin + draw(CELLS - (a.n - 1) * a.stride);
				}
				all[count++] = a;
			}
		}
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	state = strtoul(argv[1], NULL, 10);
	MPI_Comm node;
	int near, flavor = draw(4), errors = 0;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &near);
	MPI_Comm_free(&node);
	static long own[MEMORY];
	long *memory = own;
	MPI_Win w;
	MPI_Aint bases[MAX_RANKS];
	if (flavor == 0)
		MPI_Win_create(own, sizeof own, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	else if (flavor == 1) {
		MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w);
		MPI_Win_attach(w, own, sizeof own);
	} else if (flavor == 2 && near == size)
		MPI_Win_allocate_shared(sizeof own, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
	else
		MPI_Win_allocate(sizeof own, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
	memset(memory, 0, sizeof own);
	MPI_Get_address(memory, &bases[rank]);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, bases, 1, MPI_AINT, MPI_COMM_WORLD);
	MPI_Group group;
	MPI_Win_get_group(w, &group);
	static long data[MAX_RANKS * MAX_RANKS * 4][CELLS], result[MAX_RANKS * MAX_RANKS * 4][CELLS], old[CELLS];
	for (int round = 0; round < ROUNDS; round++) {
		draw_round(round);
		int epoch = draw(5), passive = epoch >= 2, forms = draw(1 << 20);
		if (epoch == 0)
			MPI_Win_fence(0, w);
		else if (epoch == 1) {
			MPI_Win_post(group, 0, w);
			MPI_Win_start(group, 0, w);
		} else if (epoch == 4)
			MPI_Win_lock_all(0, w);
		for (int target = 0; target < size; target++) {
			if (epoch == 2 || epoch == 3)
				MPI_Win_lock(epoch == 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, w);
			for (int i = 0; i < count; i++)
				if (all[i].origin == rank && all[i].target == target)
					start(&all[i], w, flavor == 1 ? bases[target] : -1, (forms >> i % 19) % 3, passive && forms >> i % 17 & 1, data[i], result[i]);
			if (epoch == 2 || epoch == 3)
				MPI_Win_unlock(target, w);
		}
		if (epoch == 0)
			MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
		else if (epoch == 1) {
			MPI_Win_complete(w);
			MPI_Win_wait(w);
		} else if (epoch == 4)
			MPI_Win_unlock_all(w);
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < count; i++) {
			apply(&all[i], old);
			int reads = all[i].kind == GET || all[i].kind == FETCH || all[i].kind == SWAP;
			if (all[i].origin == rank && reads && memcmp(result[i], old, all[i].n * sizeof(long))) {
				printf("rank %d, round %d: access %d of kind %d has read %ld, want %ld\n", rank, round, i, all[i].kind, result[i][0], old[0]);
				errors++;
			}
		}
		MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w);
		if (memcmp(memory, model[rank], sizeof own)) {
			printf("rank %d, round %d of epoch %d: the memory is not that of the model\n", rank, round, epoch);
			errors++;
		}
		MPI_Win_unlock(rank, w);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Group_free(&group);
	if (flavor == 1)
		MPI_Win_detach(w, own);
	MPI_Win_free(&w);
	MPI_Reduce(rank ? &errors : MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d errors\n", errors);
	MPI_Finalize();
	return 0;
}
