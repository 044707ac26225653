/* ---- what is timed ---- */

struct mode {
	const char *name;
	int blocking, ready, buffered;
	int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
	int (*start)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
};

static const struct mode modes[] = {
	{"send", 1, 0, 0, MPI_Send, NULL},     {"ssend", 1, 0, 0, MPI_Ssend, NULL},
	{"rsend", 1, 1, 0, MPI_Rsend, NULL},   {"bsend", 1, 0, 1, MPI_Bsend, NULL},
	{"isend", 0, 0, 0, NULL, MPI_Isend},   {"issend", 0, 0, 0, NULL, MPI_Issend},
	{"irsend", 0, 1, 0, NULL, MPI_Irsend}, {"ibsend", 0, 0, 1, NULL, MPI_Ibsend},
};
enum { MODES = sizeof modes / sizeof *modes };

/* What is being measured, on both ranks. */
static struct {
	const struct mode *mode;
	int bytes, root;
	int batch;     /* operations in a sample */
	int idle;      /* samples are thrown away */
	int64_t delta; /* ns */
} at;

static char *out, *in, *lent; /* for all sizes, so that they stay where they were: in the caches */
static size_t out_room, in_room;

/* lend gives the library room for buffered sends: a message may not have left it when the next one comes. */
static void lend(void)
{
	int64_t needed = 4 * ((int64_t)at.bytes + MPI_BSEND_OVERHEAD);

	if (!at.mode->buffered)
		return;
	needed = needed < INT32_MAX ? needed : INT32_MAX;
	lent = room(needed);
	MPI_Buffer_attach(lent, (int)needed);
}

static void take_back(void)
{
	int size;

	if (!at.mode->buffered)
		return;
	MPI_Buffer_detach(&lent, &size);
	free(lent);
}

/* barrier is the tree of package impl/library/mpi, of two: a message to the root and one back, so that the root leaves first. */
static void barrier(void)
{
	if (at.root == !p1) {
		MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG, meeting, MPI_STATUS_IGNORE);
		MPI_Send(NULL, 0, MPI_BYTE, peer, TAG, meeting);
	} else {
		MPI_Send(NULL, 0, MPI_BYTE, peer, TAG, meeting);
		MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG, meeting, MPI_STATUS_IGNORE);
	}
}

/* pause_p1 lets P1 wait, outside of MPI, until whatever is under way has surely arrived. */
static void pause_p1(void)
{
	linger(at.delta);
	dither();
}

static inline MPI_Request send_message(void)
{
	MPI_Request r = MPI_REQUEST_NULL;

	if (at.mode->blocking)
		at.mode->send(out, at.bytes, MPI_BYTE, peer, TAG, comm);
	else
		at.mode->start(out, at.bytes, MPI_BYTE, peer, TAG, comm, &r);
	return r;
}

static inline MPI_Request post(void)
{
	MPI_Request r;

	MPI_Irecv(in, at.bytes, MPI_BYTE, peer, TAG, comm, &r);
	return r;
}

static inline MPI_Request receive(void)
{
	if (!at.mode->blocking)
		return post();
	MPI_Recv(in, at.bytes, MPI_BYTE, peer, TAG, comm, MPI_STATUS_IGNORE);
	return MPI_REQUEST_NULL;
}

static inline void complete(MPI_Request r)
{
	if (r != MPI_REQUEST_NULL)
		MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* trip is there and back, and answer the same at P2. */
static void trip(void)
{
	MPI_Request sent = send_message();

	complete(receive());
	complete(sent);
}

static inline void answer(void)
{
	complete(receive());
	complete(send_message());
}

static int64_t timed_send(void)
{
	int64_t begin, end;
	MPI_Request r;

	barrier();
	begin = now();
	r = send_message();
	end = now();
	complete(r);
	return elapsed(begin, end, 1);
}

/* timed_receive posts the receive of a ready send before the barrier, and times its two parts. */
static int64_t timed_receive(int wait)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int64_t begin, end, t = 0;

	if (at.mode->ready) {
		begin = now();
		r = post();
		end = now();
		t = elapsed(begin, end, 1);
	}
	barrier();
	if (wait)
		pause_p1();
	if (!at.mode->ready) {
		begin = now();
		r = receive();
		end = now();
		t = elapsed(begin, end, 1);
	} else if (at.mode->blocking) {
		begin = now();
		complete(r);
		end = now();
		return t + elapsed(begin, end, 1);
	}
	complete(r);
	return t;
}
