/* Communication between parents and children. */

static void merged_order(MPI_Comm inter, int high) {
	MPI_Comm all;
	int me, n, places[16];
	MPI_Intercomm_merge(inter, high, &all);
	MPI_Comm_rank(all, &me);
	MPI_Comm_size(all, &n);
	MPI_Allgather(&rank, 1, MPI_INT, places, 1, MPI_INT, all);
	say(" %d of %d:", me, n);
	for (int i = 0; i < n; i++) say(" %d", places[i]);
	MPI_Comm_free(&all);
}

static void merged(void) {
	MPI_Comm inter = start("merge", 2, 0, W);
	merged_order(inter, 0);
	merged_order(inter, 1);
	if (rank == 0) hear(inter);
	MPI_Comm_disconnect(&inter);
}

static void exchange_all(MPI_Comm inter, int is_parent) {
	int n, mine = 10 * is_parent + rank, sum = -1, theirs[16], word = is_parent && rank == 0 ? 42 : 0;
	MPI_Comm_remote_size(inter, &n);
	MPI_Barrier(inter);
	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter);
	MPI_Allgather(&mine, 1, MPI_INT, theirs, 1, MPI_INT, inter);
	MPI_Bcast(&word, 1, MPI_INT, !is_parent ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
	say(" sum %d word %d:", sum, word);
	for (int i = 0; i < n; i++) say(" %d", theirs[i]);
}

static void collectives(void) {
	MPI_Comm inter = start("collectives", 2, 0, W);
	exchange_all(inter, 1);
	if (rank == 0) hear(inter);
	MPI_Comm_disconnect(&inter);
}

/* Each rank puts into the next one's memory. */
static void put_around(MPI_Comm inter, int high) {
	MPI_Comm all;
	MPI_Win win;
	int me, n, cell = -1;
	MPI_Intercomm_merge(inter, high, &all);
	MPI_Comm_rank(all, &me);
	MPI_Comm_size(all, &n);
	MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, all, &win);
	MPI_Win_fence(0, win);
	MPI_Put(&me, 1, MPI_INT, (me + 1) % n, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	say(" %d", cell);
	MPI_Win_free(&win);
	MPI_Comm_free(&all);
}

static void windows(void) {
	MPI_Comm inter = start("windows", 2, 0, W);
	put_around(inter, 0);
	if (rank == 0) hear(inter);
	MPI_Comm_disconnect(&inter);
}

/* Parents and children write one file. */
static void write_together(MPI_Comm inter, int high) {
	char name[64] = "";
	MPI_Comm all;
	MPI_File f;
	int me, n, sum = 0;
	MPI_Intercomm_merge(inter, high, &all);
	MPI_Comm_rank(all, &me);
	MPI_Comm_size(all, &n);
	if (me == 0) close(mkstemp(strcpy(name, "/tmp/spawn-XXXXXX")));
	MPI_Bcast(name, sizeof name, MPI_CHAR, 0, all);
	MPI_File_open(all, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	MPI_File_write_at_all(f, 4 * me, &me, 1, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_sync(f);
	MPI_Barrier(all);
	for (int i = 0; i < n; i++) {
		int x;
		MPI_File_read_at(f, 4 * i, &x, 1, MPI_INT, MPI_STATUS_IGNORE);
		sum += x;
	}
	say(" %d", sum);
	MPI_File_close(&f);
	MPI_Comm_free(&all);
}

static void files(void) {
	MPI_Comm inter = start("files", 1, 0, W);
	write_together(inter, 0);
	if (rank == 0) hear(inter);
	MPI_Comm_disconnect(&inter);
}

/* The parents with one group of children get a communicator to another one. */
static void third_group(void) {
	MPI_Comm left = start("left", 1, 0, W), right = start("right", 1, 0, W), whole, peer, bridge;
	int n, m, all = 0;
	MPI_Intercomm_merge(left, 0, &whole);
	MPI_Intercomm_merge(right, 0, &peer);
	MPI_Comm_size(whole, &n);
	MPI_Intercomm_create(whole, 0, peer, size, 3, &bridge);
	MPI_Comm_remote_size(bridge, &m);
	MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, bridge);
	say(" %d %d %d", n, m, all);
	if (rank == 0) {
		hear(left);
		hear(right);
	}
	MPI_Comm_free(&bridge);
	MPI_Comm_free(&peer);
	MPI_Comm_free(&whole);
	MPI_Comm_disconnect(&left);
	MPI_Comm_disconnect(&right);
}

static void duplicates(void) {
	MPI_Comm inter = start("duplicates", 2, 0, W), copy, half;
	int n = 0;
	MPI_Comm_dup(inter, &copy);
	MPI_Comm_split(inter, rank % 2, rank, &half);
	if (half != MPI_COMM_NULL) {
		MPI_Comm_remote_size(half, &n);
		MPI_Comm_free(&half);
	}
	say(" %d", n);
	MPI_Comm_disconnect(&inter);
	if (rank == 0) hear(copy);
	MPI_Comm_disconnect(&copy);
}

static void freed_parent(void) {
	MPI_Comm inter = start("orphan", 1, 0, W), all;
	MPI_Intercomm_merge(inter, 0, &all);
	MPI_Comm_disconnect(&inter);
	int isnull;
	if (rank == 0) {
		MPI_Recv(&isnull, 1, MPI_INT, size, 0, all, MPI_STATUS_IGNORE);
		say(" %d", isnull);
	}
	MPI_Comm_disconnect(&all);
}

/* Children leave, and come back by a port. */
static void reconnected(void) {
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm inter = start("reconnect", 2, 0, W);
	if (rank == 0) {
		MPI_Open_port(MPI_INFO_NULL, port);
		MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, inter);
	}
	for (int i = 0; i < 3; i++) {
		MPI_Comm_disconnect(&inter);
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, W, &inter);
		int n;
		MPI_Comm_remote_size(inter, &n);
		say(" %d", n);
	}
	if (rank == 0) {
		hear(inter);
		MPI_Close_port(port);
	}
	MPI_Comm_disconnect(&inter);
}
