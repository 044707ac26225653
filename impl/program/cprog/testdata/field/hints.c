/* Hints of a window: those that it has of its own, and those of the program that MPI defines. The library chooses which there are, so this
 * is for loggp alone. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	char value[MPI_MAX_INFO_VAL];
	const char *keys[] = {"no_locks", "accumulate_ordering", "accumulate_ops", "same_size", "same_disp_unit", "own"};
	int flag, rank;
	MPI_Info in, out;
	MPI_Win w;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Info_create(&in);
	MPI_Info_set(in, "no_locks", "true");
	MPI_Win_create(NULL, 0, 1, in, MPI_COMM_WORLD, &w);
	MPI_Info_delete(in, "no_locks");
	MPI_Info_set(in, "own", "5");
	MPI_Win_set_info(w, in);
	MPI_Info_free(&in);
	MPI_Win_get_info(w, &out);
	for (int i = 0; i < 6 && rank == 0; i++) {
		MPI_Info_get(out, keys[i], MPI_MAX_INFO_VAL - 1, value, &flag);
		printf("%s=%s\n", keys[i], flag ? value : "?");
	}
	MPI_Info_free(&out);
	MPI_Win_free(&w);
	MPI_Finalize();
	return 0;
}
