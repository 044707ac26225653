// How threads end a rank, and what they may wait for in vain.
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static sem_t never;
static const char *how;
static int r;
#define IS(name) (r == 1 && !strcmp(how, name))
static void *first(void *arg) {
	int x = 0;
	MPI_Barrier(MPI_COMM_SELF);
	if (IS("exit")) exit(5);
	if (IS("signal")) *(volatile int *)0x18 = 1;
	if (IS("abort")) abort();
	if (IS("error")) MPI_Send(&x, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);
	if (IS("MPI_Abort")) MPI_Abort(MPI_COMM_WORLD, 9);
	if (IS("locks")) {
		pthread_mutex_lock(&a);
		pthread_barrier_wait(&both);
		pthread_mutex_lock(&b);
	}
	if (IS("receives")) MPI_Recv(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (IS("endless")) for (;;) x++;
	if (IS("main leaves")) MPI_Barrier(MPI_COMM_SELF), printf("thread\n");
	return NULL;
}
static void *second(void *arg) {
	if (IS("locks")) {
		pthread_mutex_lock(&b);
		pthread_barrier_wait(&both);
		pthread_mutex_lock(&a);
	}
	if (IS("receives") || IS("signal")) sem_wait(&never);
	return NULL;
}
int main(int c, char **v) {
	int p, x;
	pthread_t t, u;
	how = v[1];
	MPI_Init_thread(&c, &v, MPI_THREAD_MULTIPLE, &p);
	MPI_Comm_rank(MPI_COMM_WORLD, &r);
	pthread_barrier_init(&both, NULL, 2);
	sem_init(&never, 0, 0);
	pthread_create(&t, NULL, first, NULL);
	pthread_create(&u, NULL, second, NULL);
	if (IS("main leaves")) {
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Finalize();
		pthread_exit(NULL);
	}
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
