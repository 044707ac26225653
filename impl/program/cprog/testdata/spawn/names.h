/* Ports, names of services, sockets; and what children do. */

static void accepted(void) {
	char port[MPI_MAX_PORT_NAME];
	MPI_Comm inter;
	int n = rank, theirs;
	if (size < 2 || rank > 1) return;
	if (rank == 0) {
		MPI_Open_port(MPI_INFO_NULL, port);
		MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 0, W);
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
		MPI_Close_port(port);
	} else {
		MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, W, MPI_STATUS_IGNORE);
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
	}
	MPI_Sendrecv(&n, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
	say(" %d", theirs);
	MPI_Comm_disconnect(&inter);
}

static void accepted_groups(void) {
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm half, inter;
	int n, sum;
	if (size < 2) return;
	if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, W);
	MPI_Comm_split(W, rank % 2, rank, &half);
	if (rank % 2 == 0)
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
	else
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
	MPI_Comm_remote_size(inter, &n);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
	say(" %d %d", n, sum);
	MPI_Comm_disconnect(&inter);
	MPI_Comm_free(&half);
	if (rank == 0) MPI_Close_port(port);
}

/* Rank 0 has two ports, and accepts in the other order than it has opened them. */
static void several_ports(void) {
	char port[2][MPI_MAX_PORT_NAME];
	MPI_Comm inter[2];
	int word;
	if (size < 3 || rank > 2) return;
	if (rank == 0) {
		for (int i = 0; i < 2; i++) {
			MPI_Open_port(MPI_INFO_NULL, port[i]);
			MPI_Send(port[i], MPI_MAX_PORT_NAME, MPI_CHAR, 1 + i, 0, W);
		}
		for (int i = 1; i >= 0; i--) MPI_Comm_accept(port[i], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter[i]);
		for (int i = 0; i < 2; i++) {
			MPI_Recv(&word, 1, MPI_INT, 0, 0, inter[i], MPI_STATUS_IGNORE);
			say(" %d", word);
			MPI_Comm_disconnect(&inter[i]);
			MPI_Close_port(port[i]);
		}
		return;
	}
	MPI_Recv(port[0], MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, W, MPI_STATUS_IGNORE);
	MPI_Comm_connect(port[0], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter[0]);
	MPI_Send(&rank, 1, MPI_INT, 0, 0, inter[0]);
	MPI_Comm_disconnect(&inter[0]);
}

static void services(void) {
	char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";
	char name[] = "service of the suite";
	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	if (rank == 0) {
		MPI_Open_port(MPI_INFO_NULL, port);
		say(" %s", class_of(MPI_Publish_name(name, MPI_INFO_NULL, port)));
	}
	MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, W);
	say(" %s", class_of(MPI_Lookup_name(name, MPI_INFO_NULL, found)));
	say(" %d", strcmp(port, found));
	MPI_Barrier(W);
	if (rank == 0) {
		say(" %s", class_of(MPI_Unpublish_name(name, MPI_INFO_NULL, port)));
		MPI_Close_port(port);
	}
	MPI_Barrier(W);
	int code = MPI_Lookup_name(name, MPI_INFO_NULL, found), class;
	MPI_Error_class(code, &class);
	say(" %d", class == MPI_ERR_NAME);
	MPI_Comm_set_errhandler(W, MPI_ERRORS_ARE_FATAL);
}

/* The ends of a socket. Connecting does not wait for the other end. */
static void joined(void) {
	MPI_Comm inter;
	int fd, n = rank, theirs;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t l = sizeof at;
	if (size < 2 || rank > 1) return;
	if (rank == 0) {
		int listener = socket(AF_INET, SOCK_STREAM, 0);
		bind(listener, (struct sockaddr *)&at, sizeof at);
		listen(listener, 1);
		getsockname(listener, (struct sockaddr *)&at, &l);
		MPI_Send(&at.sin_port, 2, MPI_BYTE, 1, 0, W);
		MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, W, MPI_STATUS_IGNORE);
		fd = accept(listener, NULL, NULL);
		close(listener);
	} else {
		MPI_Recv(&at.sin_port, 2, MPI_BYTE, 0, 0, W, MPI_STATUS_IGNORE);
		fd = socket(AF_INET, SOCK_STREAM, 0);
		connect(fd, (struct sockaddr *)&at, sizeof at);
		MPI_Send(NULL, 0, MPI_BYTE, 0, 0, W);
	}
	MPI_Comm_join(fd, &inter);
	MPI_Comm_remote_size(inter, &n);
	say(" %d", n);
	MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
	say(" %d", theirs);
	MPI_Comm_disconnect(&inter);
	close(fd);
}

static void no_parent(void) {
	MPI_Comm parent;
	MPI_Comm_get_parent(&parent);
	say(" %d", parent == MPI_COMM_NULL);
}

/* Writes a word to a file of the current directory, lets others run, and says whether it is there. */
static void write_here(const char *directory) {
	char here[1024], word[16] = "";
	MPI_File f;
	MPI_Offset bytes;
	FILE *own = fopen("word", "w");
	fprintf(own, "%d", rank);
	fclose(own);
	MPI_Barrier(W);
	own = fopen("word", "r");
	if (fscanf(own, "%15s", word) != 1) say(" empty");
	fclose(own);
	MPI_File_open(MPI_COMM_SELF, "word", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
	MPI_File_get_size(f, &bytes);
	MPI_File_close(&f);
	say(" %s %d %d", word, (int)bytes, strcmp(getcwd(here, sizeof here), directory));
}

/* Each rank has a current directory. */
static void own_directory(void) {
	char name[] = "/tmp/spawn-XXXXXX", before[1024], after[1024];
	if (!getcwd(before, sizeof before) || !mkdtemp(name) || chdir(name)) say(" failed");
	write_here(name);
	unlink("word");
	if (chdir(before) || rmdir(name)) say(" failed");
	say(" %d", strcmp(getcwd(after, sizeof after), before));
}

static void in_directory(void) {
	char name[] = "/tmp/spawn-XXXXXX", word[64];
	char *arguments[] = {"directory", name, NULL};
	MPI_Comm inter;
	MPI_Info hints;
	if (rank == 0 && !mkdtemp(name)) say(" failed");
	MPI_Info_create(&hints);
	MPI_Info_set(hints, "wdir", name);
	MPI_Comm_spawn(program, arguments, 1, hints, 0, W, &inter, MPI_ERRCODES_IGNORE);
	if (rank == 0) {
		hear(inter);
		snprintf(word, sizeof word, "%s/word", name);
		say(" %d", unlink(word));
		say(" %d", rmdir(name));
	}
	MPI_Comm_disconnect(&inter);
	MPI_Info_free(&hints);
}

/* A command without a slash is in a directory that the caller names. */
static void searched(void) {
	char directory[1024], *name = strrchr(program, '/');
	char *arguments[] = {"hello", NULL};
	MPI_Comm inter;
	MPI_Info hints;
	snprintf(directory, sizeof directory, "%.*s", (int)(name - program), program);
	MPI_Info_create(&hints);
	MPI_Info_set(hints, "path", directory);
	MPI_Comm_spawn(name + 1, arguments, 2, hints, 0, W, &inter, MPI_ERRCODES_IGNORE);
	if (rank == 0) hear(inter);
	MPI_Comm_disconnect(&inter);
	MPI_Info_free(&hints);
}

static void run_child(MPI_Comm parent, int argc, char **argv) {
	char *role = argc > 1 ? argv[1] : "hello";
	int n;
	if (strcmp(role, "hello") == 0 || strcmp(role, "parent") == 0) {
		MPI_Comm_remote_size(parent, &n);
		say(" %d of %d, %d parents, %d arguments", rank, size, n, argc);
		if (*role == 'p') {
			MPI_Comm inter = start("hello", 1, 0, W);
			hear(inter);
			MPI_Comm_disconnect(&inter);
		}
	} else if (strcmp(role, "arguments") == 0) {
		for (int i = 1; i < argc; i++) say(" <%s>", argv[i]);
	} else if (strcmp(role, "which") == 0) {
		int *number, flag;
		MPI_Comm_get_attr(W, MPI_APPNUM, &number, &flag);
		say(" %d of %d: %s %d", rank, size, argv[2], flag ? *number : -1);
	} else if (strcmp(role, "directory") == 0) {
		write_here(argv[2]);
	} else if (strcmp(role, "square") == 0) {
		MPI_Recv(&n, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
		n *= n;
		MPI_Send(&n, 1, MPI_INT, 0, 0, parent);
		MPI_Comm_disconnect(&parent);
		return;
	} else if (strcmp(role, "merge") == 0) {
		merged_order(parent, 1);
		merged_order(parent, 0);
	} else if (strcmp(role, "collectives") == 0)
		exchange_all(parent, 0);
	else if (strcmp(role, "windows") == 0)
		put_around(parent, 1);
	else if (strcmp(role, "files") == 0)
		write_together(parent, 1);
	else if (strcmp(role, "left") == 0 || strcmp(role, "right") == 0) {
		MPI_Comm merged, bridge;
		int word = *role == 'l' ? 1000 : 2000, all = 0;
		MPI_Intercomm_merge(parent, 1, &merged);
		if (*role == 'l')
			MPI_Intercomm_create(merged, 0, MPI_COMM_NULL, 0, 3, &bridge);
		else
			MPI_Intercomm_create(W, 0, merged, 0, 3, &bridge);
		MPI_Comm_free(&merged);
		MPI_Allreduce(&word, &all, 1, MPI_INT, MPI_SUM, bridge);
		say(" %d", all);
		MPI_Comm_free(&bridge);
	} else if (strcmp(role, "duplicates") == 0) {
		MPI_Comm copy, half;
		MPI_Comm_dup(parent, &copy);
		MPI_Comm_split(parent, rank % 2, rank, &half);
		n = 0;
		if (half != MPI_COMM_NULL) {
			MPI_Comm_remote_size(half, &n);
			MPI_Comm_free(&half);
		}
		say(" %d", n);
		MPI_Comm_disconnect(&parent);
		parent = copy;
	} else if (strcmp(role, "orphan") == 0) {
		MPI_Comm all;
		MPI_Intercomm_merge(parent, 1, &all);
		MPI_Comm_disconnect(&parent);
		MPI_Comm_get_parent(&parent);
		n = parent == MPI_COMM_NULL;
		MPI_Send(&n, 1, MPI_INT, 0, 0, all);
		MPI_Comm_disconnect(&all);
		return;
	} else if (strcmp(role, "reconnect") == 0) {
		char port[MPI_MAX_PORT_NAME] = "";
		if (rank == 0) MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, parent, MPI_STATUS_IGNORE);
		for (int i = 0; i < 3; i++) {
			MPI_Comm_disconnect(&parent);
			MPI_Comm_connect(port, MPI_INFO_NULL, 0, W, &parent);
		}
		say(" %d", rank);
	}
	tell(parent);
	MPI_Comm_disconnect(&parent);
}
