// MPI_Comm_get_errhandler gives a handle that is freed of its own.
#include <mpi.h>
#include <stdio.h>
static int called;
static void f(MPI_Comm *c, int *e, ...) { called++; }
int main(int c, char **v) {
	MPI_Errhandler h, g, k;
	MPI_Init(&c, &v);
	MPI_Comm_create_errhandler(f, &h);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &g);
	MPI_Errhandler_free(&g);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, h);
	MPI_Errhandler_free(&h);
	MPI_Comm_get_errhandler(MPI_COMM_SELF, &k);
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &g);
	MPI_Errhandler_free(&k);
	MPI_Errhandler_free(&g);
	MPI_Send(0, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
	MPI_Send(0, 1, MPI_INT, 99, 0, MPI_COMM_SELF);
	printf("called %d times, %d\n", called, g == MPI_ERRHANDLER_NULL && k == g && h == g);
	MPI_Finalize();
	return 0;
}
