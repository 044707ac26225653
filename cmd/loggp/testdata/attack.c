// A program with a fault. Arguments: the rank that makes it, its number, two random numbers, and the
// numbers of correct calls before it.
#include <mpi.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;
static char memory[4096], other[4096];
static volatile int zero;
static MPI_Comm world = MPI_COMM_WORLD;

static void correct(int what) {
	MPI_Request requests[2];
	MPI_Comm comm;
	switch (what % 6) {
	case 0: MPI_Barrier(world); break;
	case 1: MPI_Bcast(memory, 100, MPI_INT, what % size, world); break;
	case 2: MPI_Allreduce(memory, other, 10, MPI_INT, MPI_SUM, world); break;
	case 3: MPI_Sendrecv(memory, 500, MPI_CHAR, (rank + 1) % size, 1, other, 500, MPI_CHAR, (rank + size - 1) % size, 1, world, MPI_STATUS_IGNORE); break;
	case 4:
		MPI_Irecv(other, 900, MPI_CHAR, (rank + size - 1) % size, 2, world, &requests[0]);
		MPI_Isend(memory, 900, MPI_CHAR, (rank + 1) % size, 2, world, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		break;
	case 5: MPI_Comm_dup(world, &comm); MPI_Comm_free(&comm); break;
	}
}

static int overflow(int n) {
	volatile char room[10000];
	room[n % 10000] = n;
	return overflow(n + 1) + room[0];
}

static void fault(int what, long a, long b) {
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Datatype type = MPI_INT;
	int value, status;
	pid_t child;
	switch (what) {
	case 0: MPI_Send(NULL, 1 + a % 100, MPI_INT, 0, 0, world); break;
	case 1: MPI_Send(memory, -1 - a % INT_MAX, MPI_INT, 0, 0, world); break;
	case 2: MPI_Recv(memory, INT_MAX - a % 1000, MPI_DOUBLE, 0, 0, world, MPI_STATUS_IGNORE); break;
	case 3: MPI_Send(memory, 1, MPI_INT, size + a % 1000, 0, world); break;
	case 4: MPI_Send(memory, 1, MPI_INT, 0, -2 - a % 1000, world); break;
	case 5: MPI_Send(memory, 1, MPI_INT, 0, 0, (MPI_Comm)(intptr_t)(4096 + a)); break;
	case 6: MPI_Send(memory, 1, (MPI_Datatype)(intptr_t)(4096 + a), 0, 0, world); break;
	case 7: MPI_Bcast(memory, 1, MPI_INT, size + a % 1000, world); break;
	case 8: MPI_Comm_rank(world, NULL); break;
	case 9: MPI_Allreduce(memory, other, 1, MPI_INT, MPI_OP_NULL, world); break;
	case 10: MPI_Wait(NULL, MPI_STATUS_IGNORE); break;
	case 11: request = (MPI_Request)(intptr_t)(4096 + a); MPI_Wait(&request, MPI_STATUS_IGNORE); break;
	case 12: type = (MPI_Datatype)(intptr_t)(4096 + a); MPI_Type_commit(&type); break;
	case 13: MPI_Comm_free(&world); break;
	case 14: MPI_Waitall(-1 - a % 1000, &request, MPI_STATUSES_IGNORE); break;
	case 15: MPI_Gather(memory, INT_MAX - a % 1000, MPI_DOUBLE, other, INT_MAX - a % 1000, MPI_DOUBLE, 0, world); break;
	case 16: MPI_Recv(memory, 1, MPI_INT, rank, 77, world, MPI_STATUS_IGNORE); break;
	case 17: MPI_Type_vector(INT_MAX - a % 1000, INT_MAX, INT_MAX, MPI_DOUBLE, &type); MPI_Type_commit(&type); MPI_Send(memory, INT_MAX, type, 0, 0, world); break;
	case 18: *(volatile char *)(a % 65536) = 1; break;
	case 19: value = *(volatile int *)(intptr_t)(0x7000000000000000 + a); break;
	case 20: ((void (*)(void))(intptr_t)(a % 4096))(); break;
	case 21: overflow(0); break;
	case 22: value = a / zero; break;
	case 23: signal(SIGSEGV, SIG_IGN); *(volatile char *)(a % 65536) = 1; break;
	case 24: memcpy(NULL, memory, 1 + a % 4000); break;
	case 25: free((void *)(memory + 16)); break;
	case 26: exit(1 + a % 100);
	case 27: _exit(1 + a % 100);
	case 28: abort();
	case 29: MPI_Abort(world, 1 + a % 100); break;
	case 30: raise(SIGILL); break;
	case 31: for (;;) zero = 0;
	case 32: MPI_Finalize(); MPI_Send(memory, 1, MPI_INT, 0, 0, world); break;
	case 33: MPI_Finalize(); MPI_Finalize(); break;
	case 34:
		if ((child = fork()) == 0) { MPI_Barrier(world); _exit(0); }
		waitpid(child, &status, 0);
		exit(WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 9);
	case 35:
		if ((child = fork()) == 0) { *(volatile char *)(a % 65536) = 1; _exit(0); }
		waitpid(child, &status, 0);
		exit(WIFSIGNALED(status) ? 9 : 0);
	case 36:
		if (fork() == 0) exit(1 + a % 100);
		exit(9);
	case 38: execl("/bin/true", "true", NULL); exit(9);
	case 39: execvp("true", (char *[]){"true", NULL}); exit(9);
	case 37: exit(system("exit 9") == 9 << 8 ? 9 : 0);
	}
	fprintf(stderr, "rank %d: fault %d had no effect\n", rank, what);
	(void)value, (void)b;
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(world, &rank);
	MPI_Comm_size(world, &size);
	for (int i = 5; i < argc; i++) correct(atoi(argv[i]));
	if (rank == atoi(argv[1])) fault(atoi(argv[2]), atol(argv[3]), atol(argv[4]));
	MPI_Barrier(world);
	MPI_Finalize();
	return 0;
}
