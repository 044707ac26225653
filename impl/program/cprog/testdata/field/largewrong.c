/* Counts that no memory can have were multiplied and wrapped around, or were allocated. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void is(const char *what, int code, int want) {
	if (code != want) printf("%s: error %d, not %d\n", what, code, want);
}

int main(int argc, char **argv) {
	int rank, size, x[4] = {0}, kinds[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE}, blocks[2] = {1, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {1, 1};
	MPI_Count many = (MPI_Count)1 << 62, counts[64], sizes[] = {(MPI_Count)1 << 40, (MPI_Count)1 << 40}, ones[] = {1, 1}, none[] = {0, 0}, n;
	MPI_Aint at[64];
	MPI_Datatype t;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < size; i++) { counts[i] = 1; at[i] = many; }
	is("send", MPI_Send_c(x, many, MPI_INT, rank, 0, MPI_COMM_SELF), MPI_ERR_COUNT);
	is("receive", MPI_Recv_c(x, 1 << 30, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
	is("gather", MPI_Allgather_c(x, 1, MPI_INT, x, many, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
	is("gather of bytes", MPI_Allgather_c(x, 1, MPI_BYTE, x, ((MPI_Count)1 << 47) - 1, MPI_BYTE, MPI_COMM_WORLD), MPI_ERR_COUNT);
	is("displacements", MPI_Allgatherv_c(x, 1, MPI_INT, x, counts, at, MPI_INT, MPI_COMM_WORLD), MPI_ERR_ARG);
	for (int i = 0; i < size; i++) counts[i] = many;
	is("reduction", MPI_Reduce_scatter_c(x, x + 1, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
	is("blocks", MPI_Reduce_scatter_block_c(x, x + 1, many, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
	is("initialization", MPI_Allreduce_init_c(x, x + 1, many, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &(MPI_Request){0}), MPI_ERR_COUNT);
	is("subarray", MPI_Type_create_subarray_c(2, sizes, ones, none, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
	is("array", MPI_Type_create_darray_c(1, 0, 2, sizes, kinds, blocks, grid, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
	is("structure", MPI_Type_create_struct_c(many, counts, counts, (MPI_Datatype[]){MPI_INT}, &t), MPI_ERR_BUFFER);
	is("size", MPI_Pack_size_c(many, MPI_INT, MPI_COMM_WORLD, &n), MPI_ERR_COUNT);
	is("external size", MPI_Pack_external_size_c("external32", many, MPI_INT, &n), MPI_ERR_COUNT);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) printf("ok\n");
	MPI_Finalize();
	return 0;
}
