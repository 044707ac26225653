// What child processes of a rank may do.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int wait_for(pid_t q) {
	int st;
	if (waitpid(q, &st, 0) != q) {
		perror("waitpid");
		exit(1);
	}
	return WIFSIGNALED(st) ? WTERMSIG(st) : WEXITSTATUS(st);
}
int main(int c, char **v) {
	int p[2], r;
	char b[100];
	MPI_Init(&c, &v);
	pipe(p);
	pid_t q = fork();
	if (q == 0) {
		dup2(p[1], 1);
		printf("output of the child");
		exit(5);
	}
	r = wait_for(q);
	b[read(p[0], b, 99)] = 0;
	printf("exit %d, %s\n", r, b);
	if ((q = fork()) == 0) execl("/bin/sh", "sh", "-c", "exit 6", NULL);
	printf("exec %d\n", wait_for(q));
	if ((q = vfork()) == 0) _exit(7);
	printf("vfork %d\n", wait_for(q));
	if ((q = fork()) == 0) abort();
	printf("abort %d\n", wait_for(q));
	if ((q = fork()) == 0) {
		usleep(1000);
		sleep(0);
		_exit(8);
	}
	printf("sleep %d\n", wait_for(q));
	if ((q = fork()) == 0) {
		close(2);
		MPI_Comm_rank(MPI_COMM_WORLD, &r);
		_exit(9);
	}
	printf("MPI %d\n", wait_for(q));
	MPI_Finalize();
	return 0;
}
