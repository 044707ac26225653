// Hardware resources by MPI_Comm_split_type: rank 0 prints the sizes of the parts, 0 for none.
#include <mpi.h>
#include <stdio.h>
static int part(int kind, const char *type) {
	MPI_Comm c;
	MPI_Info info;
	int size = 0;
	MPI_Info_create(&info);
	if (type) MPI_Info_set(info, "mpi_hw_resource_type", type);
	MPI_Comm_split_type(MPI_COMM_WORLD, kind, 0, info, &c);
	if (c != MPI_COMM_NULL) {
		MPI_Comm_size(c, &size);
		MPI_Comm_free(&c);
	}
	MPI_Info_free(&info);
	return size;
}
int main(int argc, char **argv) {
	int rank, sizes[6];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	sizes[0] = part(MPI_COMM_TYPE_SHARED, 0);
	sizes[1] = part(MPI_COMM_TYPE_HW_GUIDED, "mpi_shared_memory");
	sizes[2] = part(MPI_COMM_TYPE_HW_GUIDED, "L2Cache");
	sizes[3] = part(MPI_COMM_TYPE_HW_GUIDED, 0);
	sizes[4] = part(MPI_COMM_TYPE_HW_UNGUIDED, 0);
	sizes[5] = part(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_shared_memory");
	if (rank == 0)
		for (int i = 0; i < 6; i++) printf("%d%c", sizes[i], i < 5 ? ' ' : '\n');
	MPI_Finalize();
	return 0;
}
