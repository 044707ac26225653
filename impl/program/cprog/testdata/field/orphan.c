// A child process that goes on when its rank has ended: it ends with the job.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int c, char **v) {
	MPI_Init(&c, &v);
	int q = fork();
	if (q == 0)
		for (;;) pause();
	printf("%d\n", q);
	MPI_Finalize();
	return 0;
}
