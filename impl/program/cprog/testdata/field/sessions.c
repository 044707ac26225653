/* Programs with sessions and without MPI_Init. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
	MPI_Session s;
	MPI_Group g;
	MPI_Comm c;
	int rank, size, sum, ready = 0;
	MPI_Info info;
	MPI_Info_create(&info);
	MPI_Info_set(info, "thread_level", "MPI_THREAD_SINGLE");
	MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &s);
	if (argc > 1 && strcmp(argv[1], "open") == 0) return 0;
	if (argc > 1 && strcmp(argv[1], "world") == 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Info_free(&info);
	MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
	MPI_Comm_create_from_group(g, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &c);
	MPI_Group_free(&g);
	MPI_Comm_rank(c, &rank);
	MPI_Comm_size(c, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
	if (rank > 0) MPI_Recv(&ready, 1, MPI_INT, rank - 1, 0, c, MPI_STATUS_IGNORE);
	printf("rank %d of %d, sum %d\n", rank, size, sum);
	if (rank < size - 1) MPI_Send(&ready, 1, MPI_INT, rank + 1, 0, c);
	MPI_Comm_free(&c);
	MPI_Session_finalize(&s);
	return 0;
}
