#include <mpi.h>
int MPI_No_such_function(void);
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_No_such_function();
	MPI_Finalize();
	return 0;
}
