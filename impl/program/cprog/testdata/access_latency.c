/* The mean time of an access of 8 bytes with its synchronization, for each flavor of windows, each
 * synchronization and each kind of access, and half a round trip of messages: lines of flavor,
 * synchronization, access, microseconds. Rank 0 accesses memory of rank 1. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 20 };
static const char *flavors[] = {"create", "allocate", "dynamic", "shared"};
static const char *syncs[] = {"lock", "lock_all", "flush", "flush_local", "fence", "pscw"};
static const char *accesses[] = {"put", "get", "acc", "get_acc", "fop", "cas"};
static int rank;
static MPI_Group peer;

static long one = 1, compare = 0, result;
static MPI_Aint base;

static void start(MPI_Win w, const char *access) {
	if (!strcmp(access, "put"))
		MPI_Put(&one, 1, MPI_LONG, 1, base, 1, MPI_LONG, w);
	else if (!strcmp(access, "get"))
		MPI_Get(&result, 1, MPI_LONG, 1, base, 1, MPI_LONG, w);
	else if (!strcmp(access, "acc"))
		MPI_Accumulate(&one, 1, MPI_LONG, 1, base, 1, MPI_LONG, MPI_SUM, w);
	else if (!strcmp(access, "get_acc"))
		MPI_Get_accumulate(&one, 1, MPI_LONG, &result, 1, MPI_LONG, 1, base, 1, MPI_LONG, MPI_SUM, w);
	else if (!strcmp(access, "fop"))
		MPI_Fetch_and_op(&one, &result, MPI_LONG, 1, base, MPI_SUM, w);
	else
		MPI_Compare_and_swap(&one, &compare, &result, MPI_LONG, 1, base, w);
}

/* Both ranks make the calls that are theirs. */
static double measure(MPI_Win w, const char *sync, const char *access) {
	int passive = strcmp(sync, "fence") && strcmp(sync, "pscw"), locks = !strcmp(sync, "lock");
	int all = passive && !locks;
	if (!strcmp(sync, "fence"))
		MPI_Win_fence(0, w);
	if (all && rank == 0)
		MPI_Win_lock_all(0, w);
	MPI_Barrier(MPI_COMM_WORLD);
	double begin = MPI_Wtime();
	for (int i = 0; i < ROUNDS && (rank == 0 || !passive); i++) {
		if (locks)
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w);
		else if (!strcmp(sync, "pscw") && rank == 0)
			MPI_Win_start(peer, 0, w);
		else if (!strcmp(sync, "pscw"))
			MPI_Win_post(peer, 0, w);
		if (rank == 0)
			start(w, access);
		if (locks)
			MPI_Win_unlock(1, w);
		else if (!strcmp(sync, "flush") || !strcmp(sync, "lock_all"))
			MPI_Win_flush(1, w);
		else if (!strcmp(sync, "flush_local"))
			MPI_Win_flush_local(1, w);
		else if (!strcmp(sync, "fence"))
			MPI_Win_fence(0, w);
		else if (rank == 0)
			MPI_Win_complete(w);
		else
			MPI_Win_wait(w);
	}
	double end = MPI_Wtime();
	if (all && rank == 0)
		MPI_Win_unlock_all(w);
	MPI_Barrier(MPI_COMM_WORLD);
	return (end - begin) / ROUNDS * 1e6;
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Group world;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, (int[]){1 - rank}, &peer);
	MPI_Comm node;
	int near;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &near);
	for (int f = 0; f < 4; f++) {
		long memory[4] = {0, 0, 0, 0}, *at = memory;
		MPI_Win w;
		base = 1;
		if (f == 0)
			MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &w);
		else if (f == 1)
			MPI_Win_allocate(sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &at, &w);
		else if (f == 2) {
			MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w);
			MPI_Win_attach(w, memory, sizeof memory);
			MPI_Get_address(memory + 1, &base);
			MPI_Bcast(&base, 1, MPI_AINT, 1, MPI_COMM_WORLD);
		} else if (near == 2)
			MPI_Win_allocate_shared(sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &at, &w);
		else
			continue;
		at[1] = 0;
		MPI_Barrier(MPI_COMM_WORLD);
		long want = 0;
		for (int s = 0; s < 6; s++)
			for (int a = 0; a < 6; a++) {
				double us = measure(w, syncs[s], accesses[a]);
				if (rank == 0)
					printf("%s %s %s %.3f\n", flavors[f], syncs[s], accesses[a], us);
				want = a == 0 ? 1 : a >= 2 && a <= 4 ? want + ROUNDS : want;
				if (rank == 1) { /* what it was set to, and what was added */
					MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w);
					if (at[1] != want)
						printf("%s %s %s: %ld, want %ld\n", flavors[f], syncs[s], accesses[a], at[1], want);
					MPI_Win_unlock(1, w);
				}
				MPI_Barrier(MPI_COMM_WORLD);
			}
		if (f == 2)
			MPI_Win_detach(w, memory);
		MPI_Win_free(&w);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	double begin = MPI_Wtime();
	for (int i = 0; i < ROUNDS; i++)
		if (rank == 0) {
			MPI_Send(&one, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD);
			MPI_Recv(&result, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(&result, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&one, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
		}
	if (rank == 0)
		printf("message one way 8 %.3f\n", (MPI_Wtime() - begin) / ROUNDS / 2 * 1e6);
	MPI_Group_free(&peer);
	MPI_Group_free(&world);
	MPI_Comm_free(&node);
	MPI_Finalize();
	return 0;
}
