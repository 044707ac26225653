/* The part of mixed.f90 that is in C. */
#include <mpi.h>
#include <stdio.h>

void other_language_(MPI_Fint *type, MPI_Fint *comm, MPI_Fint *wrong) {
	int rank, size, at = 7, got[6] = {0};
	MPI_Datatype both, types[2] = {MPI_INT, MPI_Type_f2c(*type)};
	MPI_Comm c = MPI_Comm_f2c(*comm);
	MPI_Comm_rank(c, &rank);
	MPI_Comm_size(c, &size);
	/* A number of this procedure's and the array of the Fortran program's, by their addresses. */
	int lengths[2] = {1, 1};
	MPI_Aint addresses[2] = {0, 0};
	MPI_Get_address(&at, &addresses[0]);
	MPI_Type_create_struct(2, lengths, addresses, types, &both);
	MPI_Type_commit(&both);
	MPI_Sendrecv(MPI_BOTTOM, 1, both, (rank + 1) % size, 0, got, 6, MPI_INT, (rank + size - 1) % size, 0, c, MPI_STATUS_IGNORE);
	for (int i = 0; i < 6; i++)
		if (got[i] != (i == 0 ? 7 : i)) *wrong += 1;
	MPI_Type_free(&both);
	if (MPI_Type_f2c(MPI_Type_c2f(MPI_INTEGER)) != MPI_INTEGER || MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) != MPI_SUM) *wrong += 1;
	*comm = MPI_Comm_c2f(c);
}

/* The address of an array as C has it. */
void address_in_c_(void *array, MPI_Aint *address) { MPI_Get_address(array, address); }
