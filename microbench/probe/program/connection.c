/* ---- memory, failures, and the connection to the scheduler ---- */

static const char *directory;
static unsigned patience; /* seconds */
static int connection = -1; /* of rank 0 */

/* fail ends all ranks. Launchers lose the last words of ranks that abort, and other ranks may fail at the same time and be killed while they write. So the
 * reason is also left in the file failed, which is whole whenever it is there: each rank renames a file of its own to it. */
static void fail(const char *format, ...)
{
	char text[2048], path[4096], part[4096];
	va_list args;
	FILE *f;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (directory != NULL && snprintf(path, sizeof path, "%s/failed", directory) < (int)sizeof path &&
	    snprintf(part, sizeof part, "%s/failed.%d.%ld", directory, rank, (long)getpid()) < (int)sizeof part && (f = fopen(part, "w")) != NULL) {
		fprintf(f, "loggp-probe: %s\n", text);
		if (fclose(f) == 0)
			rename(part, path);
	}
	fprintf(stderr, "loggp-probe: %s\n", text); /* in one piece, as ranks share it */
	fflush(stderr);
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

static void *room(size_t n)
{
	void *p = NULL;

	if (posix_memalign(&p, 4096, n > 0 ? n : 1) != 0)
		fail("no memory for %zu bytes", n);
	memset(p, 1, n); /* so that no page is missing later */
	return p;
}

/* larger returns a buffer of n bytes at least, the old one if that is large enough. */
static void *larger_room(void *old, size_t *had, size_t n)
{
	if (old != NULL && n <= *had)
		return old;
	free(old);
	*had = n;
	return room(n);
}

/* doze sleeps for a moment. */
static void doze(void)
{
	struct timespec t = {0, 1000000};

	nanosleep(&t, NULL);
}

/* receive_all and send_all move bytes over the connection. If hot, rank 0 polls instead of sleeping, so that it stays warm. */
static void receive_all(void *to, size_t n, int hot)
{
	char *p = to;
	ssize_t got;

	while (n > 0) {
		got = recv(connection, p, n, hot ? MSG_DONTWAIT : 0);
		if (got > 0) {
			p += got;
			n -= (size_t)got;
		} else if (got == 0) {
			exit(1); /* the scheduler is gone; the launcher ends the others */
		} else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
			fail("the connection to the scheduler is broken: %s", strerror(errno));
		}
	}
}

static void send_all(const void *from, size_t n)
{
	const char *p = from;
	ssize_t sent;

	while (n > 0) {
		sent = send(connection, p, n, MSG_NOSIGNAL);
		if (sent > 0) {
			p += sent;
			n -= (size_t)sent;
		} else if (errno != EINTR) {
			fail("the connection to the scheduler is broken: %s", strerror(errno));
		}
	}
}

enum { TEXT = 1, NUMBERS = 2 }; /* kinds of answers */

static void answer_with(int64_t kind, const void *bytes, size_t n)
{
	int64_t head[2] = {kind, (int64_t)n};

	send_all(head, sizeof head);
	send_all(bytes, n);
}

/* answer_text sends what a function writes. */
static void answer_text(void (*write)(FILE *))
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (f == NULL)
		fail("no memory for a text");
	write(f);
	fclose(f);
	answer_with(TEXT, text, n);
	free(text);
}

/* open_connection connects rank 0 to the scheduler: the file connect has its port, what to say and what it says then, and the names of its host. */
static void open_connection(void)
{
	char path[4096], port[16], token[80], reply[80], host[1100], said[80];
	struct addrinfo hints, *all, *a;
	FILE *f;

	if (snprintf(path, sizeof path, "%s/connect", directory) >= (int)sizeof path || (f = fopen(path, "r")) == NULL)
		fail("cannot read %s: the first rank must be where it can; let TMPDIR be a directory that all hosts share", path);
	if (fscanf(f, "%15s %79s %79s", port, token, reply) != 3)
		fail("%s does not say how to connect", path);
	memset(&hints, 0, sizeof hints);
	hints.ai_socktype = SOCK_STREAM;
	while (fscanf(f, "%1023s", host) == 1) {
		if (getaddrinfo(host, port, &hints, &all) != 0)
			continue;
		for (a = all; a != NULL; a = a->ai_next) {
			int yes = 1;
			size_t n = strlen(reply);

			if ((connection = socket(a->ai_family, a->ai_socktype, a->ai_protocol)) < 0)
				continue;
			setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
			if (connect(connection, a->ai_addr, a->ai_addrlen) == 0 && send(connection, token, strlen(token), MSG_NOSIGNAL) == (ssize_t)strlen(token) &&
			    recv(connection, said, n, MSG_WAITALL) == (ssize_t)n && memcmp(said, reply, n) == 0) {
				freeaddrinfo(all);
				fclose(f);
				return;
			}
			close(connection);
		}
		freeaddrinfo(all);
	}
	fail("cannot connect to the scheduler at port %s of any host that %s names", port, path);
}
