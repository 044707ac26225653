/* What a tracer has to understand: requests that end in any order, groups, blocks, any source. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, index;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;

    double in[100], out[100] = {0}, one = 1, sum;
    MPI_Request requests[2];
    MPI_Irecv(in, 100, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 100, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, half);
    MPI_Sendrecv(out, 3, MPI_FLOAT, next, 2, in, 20, MPI_FLOAT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    int many[64] = {0}, all[64], counts[4] = {2, 2, 2, 2};
    if (rank == 0)
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 4, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Gather(many, 4, MPI_INT, all, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce_scatter(many, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Alltoall(many, 4, MPI_INT, all, 4, MPI_INT, MPI_COMM_WORLD);
    MPI_Bcast(many, 10, MPI_INT, 2, MPI_COMM_WORLD);

    char bytes[16] = {0}, got[64];
    int scounts[4] = {1, 2, 3, 4}, displs[4] = {0, 1, 3, 6}, rcounts[4], rdispls[4];
    for (int i = 0; i < 4; i++) {
        rcounts[i] = rank + 1;
        rdispls[i] = 8 * i;
    }
    MPI_Alltoallv(bytes, scounts, displs, MPI_CHAR, got, rcounts, rdispls, MPI_CHAR, MPI_COMM_WORLD);

    if (rank == 0)
        for (int i = 1; i < size; i++)
            MPI_Recv(got, 10, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(bytes, 3, MPI_CHAR, 0, rank, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
