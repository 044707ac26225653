/* Two threads look in a loop for what a third one receives. The first argument says how they look.
 * "alone": one thread locks and unlocks while main waits for its end. */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static volatile int received;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int other;
static const char *how;

static void *look(void *unused) {
	int seen = 0;
	while (!seen) {
		if (strcmp(how, "locks") == 0) {
			pthread_mutex_lock(&lock);
			seen = received;
			pthread_mutex_unlock(&lock);
		} else if (strcmp(how, "yields") == 0) {
			sched_yield();
			seen = received;
		} else
			for (int i = 0; i < 100000000 && !(seen = received); i++) {}
	}
	return NULL;
}

static void *receive(void *unused) {
	int x = 0, tag = strcmp(how, "forever") == 0 ? 9 : 1;
	MPI_Recv(&x, 1, MPI_INT, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	received = x;
	return NULL;
}

static void *count_alone(void *unused) {
	for (int i = 0; i < 300000; i++) {
		pthread_mutex_lock(&lock);
		received++;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv) {
	int provided, rank, x;
	pthread_t looker, receiver;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	other = 1 - rank;
	how = argv[1];
	x = 10 + rank;
	if (strcmp(how, "alone") == 0) {
		pthread_create(&looker, NULL, count_alone, NULL);
		pthread_join(looker, NULL);
		printf("%d sees %d\n", rank, received);
		MPI_Finalize();
		return 0;
	}
	pthread_create(&looker, NULL, look, NULL);
	pthread_create(&receiver, NULL, receive, NULL);
	sched_yield();
	MPI_Send(&x, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
	look(NULL);
	pthread_join(receiver, NULL);
	pthread_join(looker, NULL);
	printf("%d sees %d\n", rank, received);
	MPI_Finalize();
	return 0;
}
