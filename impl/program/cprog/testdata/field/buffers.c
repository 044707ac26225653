/* Buffers of buffered sends belong to the process, to a communicator or to a session. The innermost one is used. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { bytes = 1000, room = bytes + MPI_BSEND_OVERHEAD };
static char data[bytes], got[bytes];
static int rank;

/* Two messages, of which only one finds room: the class of the second's error tells that. */
static int fits(MPI_Comm c) {
	int class = MPI_SUCCESS, e = MPI_SUCCESS;
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	MPI_Barrier(c);
	if (rank == 0) {
		memset(data, 'a', bytes);
		e = MPI_Bsend(data, bytes, MPI_CHAR, 1, 0, c);
		memset(data, 'b', bytes); /* the message has left this memory */
		if (e) MPI_Error_class(e, &class);
	}
	MPI_Bcast(&e, 1, MPI_INT, 0, c);
	if (rank == 1 && !e) {
		MPI_Recv(got, bytes, MPI_CHAR, 0, 0, c, MPI_STATUS_IGNORE);
		if (got[0] != 'a' || got[bytes - 1] != 'a') printf("wrong data\n");
	}
	MPI_Barrier(c);
	return class == MPI_ERR_BUFFER ? 0 : class == MPI_SUCCESS ? 1 : -class;
}

int main(int argc, char **argv) {
	static char of_rank[10], of_comm[room], of_session[room];
	MPI_Comm dup, made;
	MPI_Session session;
	MPI_Group group;
	MPI_Request q;
	void *b;
	int size;
	MPI_Count large;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);

	MPI_Buffer_attach(of_rank, sizeof of_rank);
	int before = fits(dup);
	MPI_Comm_attach_buffer(dup, of_comm, sizeof of_comm);
	int with = fits(dup), world = fits(MPI_COMM_WORLD);
	MPI_Comm_flush_buffer(dup);
	MPI_Comm_iflush_buffer(dup, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	int again = fits(dup), class;
	MPI_Error_class(MPI_Comm_attach_buffer(dup, of_session, sizeof of_session), &class);
	MPI_Comm_detach_buffer(dup, &b, &size);
	if (rank == 0) printf("comm %d %d %d %d, second %d, back %d %d\n", before, with, world, again, class == MPI_ERR_BUFFER, b == of_comm, size == sizeof of_comm);

	MPI_Comm_attach_buffer(dup, MPI_BUFFER_AUTOMATIC, 0);
	with = fits(dup);
	MPI_Comm_flush_buffer(dup);
	MPI_Comm_detach_buffer_c(dup, &b, &large);
	if (rank == 0) printf("automatic %d, back %d %lld\n", with, b == MPI_BUFFER_AUTOMATIC, (long long)large);

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
	MPI_Group_from_session_pset(session, "mpi://world", &group);
	MPI_Comm_create_from_group(group, "buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
	MPI_Group_free(&group);
	before = fits(made);
	MPI_Session_attach_buffer(session, of_session, sizeof of_session);
	with = fits(made), world = fits(dup);
	MPI_Comm_attach_buffer(made, of_rank + 1, 1);
	int inner = fits(made);
	MPI_Comm_detach_buffer(made, &b, &size);
	MPI_Session_flush_buffer(session);
	MPI_Session_iflush_buffer(session, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Session_detach_buffer(session, &b, &size);
	if (rank == 0) printf("session %d %d %d %d, back %d %d\n", before, with, world, inner, b == of_session, size == sizeof of_session);
	MPI_Comm_free(&made);
	MPI_Session_finalize(&session);

	/* Messages leave the buffer of a communicator before it is freed. */
	MPI_Comm_attach_buffer(dup, of_comm, sizeof of_comm);
	if (rank == 0) MPI_Bsend(of_rank, 0, MPI_DATATYPE_NULL, 1, 1, dup);
	else MPI_Recv(NULL, 0, MPI_DATATYPE_NULL, 0, 1, dup, MPI_STATUS_IGNORE);
	MPI_Comm_free(&dup);
	MPI_Buffer_detach(&b, &size);
	if (rank == 0) printf("process %d %d\n", b == of_rank, size);
	MPI_Finalize();
	return 0;
}
