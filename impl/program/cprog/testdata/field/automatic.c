// Buffered messages whose buffer the library makes, of any size.
#include <mpi.h>
#include <stdio.h>

static int out[3][100000], in[100000];

int main(int argc, char **argv) {
	int rank, size, wrong = 0, n = -1;
	void *at;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++) {
			for (int k = 0; k < 100000; k++) out[i][k] = rank + i + k;
			MPI_Bsend(out[i], i == 1 ? 100000 : 10, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD);
			for (int k = 0; k < 100000; k++) out[i][k] = -1;
		}
		int from = (rank + size - 1) % size;
		for (int i = 2; i >= 0; i--) {
			MPI_Recv(in, 100000, MPI_INT, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			for (int k = 0; k < (i == 1 ? 100000 : 10); k++) wrong += in[k] != from + i + k;
		}
		MPI_Buffer_flush();
	}
	MPI_Buffer_detach(&at, &n);
	printf("%d: wrong %d, the library's %d, size %d\n", rank, wrong, at == MPI_BUFFER_AUTOMATIC, n);
	MPI_Finalize();
	return 0;
}
