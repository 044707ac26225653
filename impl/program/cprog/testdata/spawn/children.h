/* What started programs get, and what those that start them learn. */

static void one_child(void) {
	MPI_Comm inter = start("hello", 1, 0, W);
	int flag, n, m;
	MPI_Comm_test_inter(inter, &flag);
	MPI_Comm_size(inter, &n);
	MPI_Comm_remote_size(inter, &m);
	say(" inter %d: %d and %d", flag, n, m);
	if (rank == 0) hear(inter);
	MPI_Comm_disconnect(&inter);
	say(" %d", inter == MPI_COMM_NULL);
}

static void two_children(void) {
	MPI_Comm inter = start("hello", 2, 0, W);
	if (rank == 0) hear(inter);
	MPI_Comm_disconnect(&inter);
}

static void each_root(void) {
	for (int root = 0; root < size; root++) {
		MPI_Comm inter = start("hello", 1, root, W);
		if (rank == 0) hear(inter);
		MPI_Comm_disconnect(&inter);
	}
}

static void child_arguments(void) {
	char *arguments[] = {"arguments", "a b", "", "\"quoted\"", "-n", "last", NULL};
	MPI_Comm inter;
	MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, W, &inter, MPI_ERRCODES_IGNORE);
	if (rank == 0) hear(inter);
	MPI_Comm_disconnect(&inter);
}

static void no_arguments(void) {
	MPI_Comm inter;
	MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, W, &inter, MPI_ERRCODES_IGNORE);
	if (rank == 0) hear(inter);
	MPI_Comm_disconnect(&inter);
}

/* What the other ranks give is not looked at. */
static void root_arguments(void) {
	char *arguments[] = {"hello", NULL};
	MPI_Comm inter;
	int root = size - 1;
	MPI_Comm_spawn(rank == root ? program : NULL, rank == root ? arguments : NULL, rank == root ? 1 : -5, MPI_INFO_NULL, root, W, &inter, MPI_ERRCODES_IGNORE);
	if (rank == 0) hear(inter);
	MPI_Comm_disconnect(&inter);
}

static void with_hints(void) {
	char *arguments[] = {"hello", NULL};
	MPI_Comm inter;
	MPI_Info info;
	MPI_Info_create(&info);
	MPI_Info_set(info, "soft", "1");
	MPI_Info_set(info, "no_such_hint", "value");
	MPI_Comm_spawn(program, arguments, 1, info, 0, W, &inter, MPI_ERRCODES_IGNORE);
	MPI_Info_free(&info);
	if (rank == 0) hear(inter);
	MPI_Comm_disconnect(&inter);
}

/* Ranks of two commands have one world, and know of which they are. */
static void two_commands(void) {
	char *commands[] = {program, program}, *first[] = {"which", "first", NULL}, *second[] = {"which", "second", NULL}, **arguments[] = {first, second};
	int counts[] = {2, 1}, codes[3] = {1, 1, 1}, m;
	MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
	MPI_Comm inter;
	MPI_Comm_spawn_multiple(2, commands, arguments, counts, infos, 0, W, &inter, codes);
	MPI_Comm_remote_size(inter, &m);
	say(" %d %d%d%d", m, codes[0] == MPI_SUCCESS, codes[1] == MPI_SUCCESS, codes[2] == MPI_SUCCESS);
	if (rank == 0) hear(inter);
	MPI_Comm_disconnect(&inter);
	MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, counts, infos, 0, W, &inter, MPI_ERRCODES_IGNORE);
	if (rank == 0) hear(inter);
	MPI_Comm_disconnect(&inter);
}

static void by_each_rank(void) {
	MPI_Comm inter = start("hello", 1, 0, MPI_COMM_SELF);
	hear(inter);
	MPI_Comm_disconnect(&inter);
}

/* Ranks that have ended are there for other programs. */
static void tasks(void) {
	int sum = 0;
	for (int i = 0; i < 5; i++) {
		MPI_Comm inter = start("square", 1, 0, W);
		int n = i;
		if (rank == 0) {
			MPI_Send(&n, 1, MPI_INT, 0, 0, inter);
			MPI_Recv(&n, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
			sum += n;
		}
		MPI_Comm_disconnect(&inter);
	}
	if (rank == 0) say(" %d", sum);
}

static void grandchild(void) {
	MPI_Comm inter = start("parent", 1, 0, W);
	if (rank == 0) hear(inter);
	MPI_Comm_disconnect(&inter);
}
