/* ---- files and memory ---- */

static const char *directory;
static unsigned patience; /* seconds */

static void fail(const char *format, ...)
{
	char text[2048], path[4096];
	va_list args;
	FILE *f;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	fprintf(stderr, "loggp-probe: %s\n", text); /* in one piece, as ranks share it */
	fflush(stderr);
	if (directory != NULL && snprintf(path, sizeof path, "%s/failed", directory) < (int)sizeof path && (f = fopen(path, "w")) != NULL) {
		fprintf(f, "loggp-probe: %s\n", text);
		fclose(f);
	}
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

/* doze sleeps, longer and longer. */
static void doze(void)
{
	static long nanoseconds;
	struct timespec t = {0, 0};

	nanoseconds = nanoseconds * 5 / 4 + 50000;
	if (nanoseconds > 4000000)
		nanoseconds = 4000000;
	t.tv_nsec = nanoseconds;
	nanosleep(&t, NULL);
}

/* await waits for a file, and opens it. */
static FILE *await(const char *name, int n)
{
	char path[4096];
	FILE *f;
	DIR *d;

	if (snprintf(path, sizeof path, "%s/%s.%d", directory, name, n) >= (int)sizeof path)
		fail("the name of the directory %s is too long", directory);
	while ((f = fopen(path, "r")) == NULL) {
		if ((d = opendir(directory)) == NULL) /* which also lets a file system that others share look again */
			fail("cannot read the directory %s: the first rank must be where it can; let TMPDIR be a directory that all hosts share", directory);
		closedir(d);
		doze();
	}
	alarm(patience);
	return f;
}

/* write_file writes a file that is whole as soon as it is there. */
static void write_file(const char *name, int n, void (*write)(FILE *))
{
	char part[4096], path[4096];
	FILE *f;
	int bad;

	snprintf(path, sizeof path, "%s/%s.%d", directory, name, n);
	snprintf(part, sizeof part, "%s/part", directory);
	if ((f = fopen(part, "w")) == NULL)
		fail("cannot write %s: the first rank must be where it can; let TMPDIR be a directory that all hosts share", part);
	write(f);
	bad = ferror(f);
	if (fclose(f) != 0 || bad || rename(part, path) != 0)
		fail("cannot write %s: is the disk full?", path);
}
