/* Threads of all ranks carry out a random plan, which each of them makes from the seed: messages between any two threads, and
 * collective operations of threads with one number. Each does what concerns it in the order of the plan, so that there is
 * no deadlock, and knows what it has to receive. */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 3, steps = 120, most = 3000 };
static int rank, size, wrong, done;
static unsigned seed;
static MPI_Comm comms[threads];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned draw(uint64_t *x) {
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return *x >> 33;
}
static int content(int step, int i) { return seed * 7 + step * 1009 + i; }

static void send_it(int step, int n, int to, unsigned way) {
	static __thread int b[most];
	MPI_Request q;
	int flag = 0;
	for (int i = 0; i < n; i++) b[i] = content(step, i);
	switch (way % 4) {
	case 0: MPI_Send(b, n, MPI_INT, to, step, MPI_COMM_WORLD); break;
	case 1: MPI_Ssend(b, n, MPI_INT, to, step, MPI_COMM_WORLD); break;
	case 2:
		MPI_Isend(b, n, MPI_INT, to, step, MPI_COMM_WORLD, &q);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		break;
	case 3:
		MPI_Issend(b, n, MPI_INT, to, step, MPI_COMM_WORLD, &q);
		while (!flag) MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
	}
}

static int receive_it(int step, int n, int from, unsigned way) {
	static __thread int b[most];
	MPI_Request q;
	MPI_Message m;
	MPI_Status s;
	int bad = 0, flag = 0, got;
	switch (way % 4) {
	case 0: MPI_Recv(b, most, MPI_INT, way & 8 ? MPI_ANY_SOURCE : from, step, MPI_COMM_WORLD, &s); break;
	case 1:
		MPI_Irecv(b, most, MPI_INT, from, step, MPI_COMM_WORLD, &q);
		MPI_Wait(&q, &s);
		break;
	case 2:
		MPI_Mprobe(MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &m, &s);
		MPI_Mrecv(b, most, MPI_INT, &m, &s);
		break;
	case 3:
		while (!flag) MPI_Iprobe(from, step, MPI_COMM_WORLD, &flag, &s);
		MPI_Recv(b, most, MPI_INT, from, step, MPI_COMM_WORLD, &s);
	}
	MPI_Get_count(&s, MPI_INT, &got);
	bad += got != n || s.MPI_SOURCE != from;
	for (int i = 0; i < got; i++) bad += b[i] != content(step, i);
	return bad;
}

static void *run(void *arg) {
	int me = (int)(intptr_t)arg, bad = 0, mine = 0;
	uint64_t x = seed;
	for (int step = 0; step < steps; step++) {
		int from = draw(&x) % size, to = draw(&x) % size, sender = draw(&x) % threads, receiver = draw(&x) % threads;
		int n = draw(&x) % 8 ? draw(&x) % 40 : draw(&x) % most;
		unsigned kind = draw(&x) % 6, way = draw(&x);
		if (kind == 0 && sender == me) {
			int sum, last = rank == to ? step : -1;
			MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comms[me]);
			MPI_Bcast(&last, 1, MPI_INT, to, comms[me]);
			bad += sum != size * (size - 1) / 2 || last != step;
		} else if (kind == 1 && sender == me) {
			MPI_Comm c;
			int count;
			MPI_Comm_dup(comms[me], &c);
			MPI_Allreduce(&(int){1}, &count, 1, MPI_INT, MPI_SUM, c);
			MPI_Comm_free(&c);
			bad += count != size;
		} else if (kind > 1 && (from != to || sender != receiver)) {
			if (from == rank && sender == me) send_it(step, n, to, way);
			if (to == rank && receiver == me) bad += receive_it(step, n, from, way >> 4);
		} else
			continue;
		if (way & 4096) sched_yield();
		mine++;
	}
	pthread_mutex_lock(&lock);
	wrong += bad;
	done += mine;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv) {
	int level, all[2];
	pthread_t started[threads];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	seed = atoi(argv[1]);
	for (int i = 0; i < threads; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 1; i < threads; i++) pthread_create(&started[i], NULL, run, (void *)(intptr_t)i);
	run(NULL);
	for (int i = 1; i < threads; i++) pthread_join(started[i], NULL);
	MPI_Reduce((int[]){wrong, done}, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0) printf("wrong %d of %d at %.9f\n", all[0], all[1], MPI_Wtime());
	for (int i = 0; i < threads; i++) MPI_Comm_free(&comms[i]);
	MPI_Finalize();
	return 0;
}
