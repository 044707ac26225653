// Messages of all kinds, in which no length depends on what was received: ./size_only BYTES. Prints
// how many of the first bytes received are those sent.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, bytes, right;

static void expect(const char *b, char want) { right += *b == want; }

static void send_messages(char *out, char *in) {
	int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
	MPI_Request requests[4];
	MPI_Irecv(in, bytes, MPI_BYTE, before, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(out, bytes, MPI_BYTE, next, 0, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	expect(in, before + 1);
	MPI_Isend(out, bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD, &requests[0]); // not expected
	MPI_Issend(out, bytes, MPI_BYTE, next, 2, MPI_COMM_WORLD, &requests[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Recv(in, bytes, MPI_BYTE, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Recv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	char *attached = malloc(2 * (bytes + MPI_BSEND_OVERHEAD));
	int size;
	MPI_Buffer_attach(attached, 2 * (bytes + MPI_BSEND_OVERHEAD));
	MPI_Bsend(out, bytes, MPI_BYTE, next, 3, MPI_COMM_WORLD);
	MPI_Recv(in, bytes, MPI_BYTE, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Buffer_detach(&attached, &size);
	free(attached);
	MPI_Sendrecv_replace(in, bytes, MPI_BYTE, next, 4, before, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Datatype gaps;
	MPI_Type_vector(bytes / 8, 4, 8, MPI_BYTE, &gaps);
	MPI_Type_commit(&gaps);
	MPI_Sendrecv(out, 1, gaps, next, 5, in, 1, gaps, before, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Type_free(&gaps);
	MPI_Send_init(out, bytes, MPI_BYTE, next, 6, MPI_COMM_WORLD, &requests[0]);
	MPI_Recv_init(in, bytes, MPI_BYTE, before, 6, MPI_COMM_WORLD, &requests[1]);
	for (int i = 0; i < 2; i++) {
		MPI_Startall(2, requests);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
	MPI_Send(out, 8, MPI_BYTE, next, 7, MPI_COMM_WORLD);
	MPI_Message message;
	MPI_Mprobe(before, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(in, 8, MPI_BYTE, &message, MPI_STATUS_IGNORE);
	expect(in, before + 1);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void call_collectives(MPI_Comm comm, char *out, char *in) {
	int words = bytes / 4, counts[ranks], offsets[ranks], me;
	MPI_Comm_rank(comm, &me);
	MPI_Op own;
	MPI_Op_create(add, 0, &own);
	MPI_Bcast(me ? in : out, bytes, MPI_BYTE, 0, comm);
	MPI_Allreduce(out, in, words, MPI_INT, MPI_SUM, comm);
	MPI_Allreduce(MPI_IN_PLACE, in, words, MPI_INT, own, comm);
	MPI_Reduce(out, in, words, MPI_INT, MPI_MAX, 1, comm);
	MPI_Scan(out, in, words, MPI_INT, own, comm);
	MPI_Exscan(out, in, words, MPI_INT, MPI_SUM, comm);
	MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_BYTE, in, bytes, MPI_BYTE, comm);
	MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
	MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 1, comm);
	MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, comm);
	for (int i = 0; i < ranks; i++)
		counts[i] = words / (i + 1), offsets[i] = i * words;
	MPI_Gatherv(out, counts[me], MPI_INT, in, counts, offsets, MPI_INT, 0, comm);
	MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm);
	MPI_Reduce_scatter_block(out, in, words, MPI_INT, MPI_SUM, comm);
	MPI_Request requests[3];
	MPI_Iallreduce(out, in, words, MPI_INT, own, comm, &requests[0]);
	MPI_Ibcast(out, bytes, MPI_BYTE, 0, comm, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Op_free(&own);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	bytes = atoi(argv[1]);
	char *out = malloc(ranks * bytes), *in = calloc(ranks, bytes);
	memset(out, rank + 1, ranks * bytes);
	send_messages(out, in);
	MPI_Comm reversed; // what the library itself sends has contents
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
	int position;
	MPI_Comm_rank(reversed, &position);
	if (position != ranks - 1 - rank)
		return 3;
	call_collectives(MPI_COMM_WORLD, out, in);
	call_collectives(reversed, out, in);
	MPI_Win window; // and so has what is written to other ranks
	int *word;
	MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &word, &window);
	*word = -1;
	MPI_Win_fence(0, window);
	MPI_Put(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, window);
	MPI_Win_fence(0, window);
	if (*word != (rank + ranks - 1) % ranks)
		return 4;
	MPI_Win_free(&window);
	printf("%d\n", right);
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
