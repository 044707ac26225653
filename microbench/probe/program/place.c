/* ---- where it ran ---- */

struct place {
	char host[MPI_MAX_PROCESSOR_NAME + 1];
	char processor[256]; /* its model */
	char bound[1024];    /* processors on which the rank may run, such as 0-3,8 */
	int64_t cost, resolution;
};

static struct place *places; /* of each rank */
static int hosts;

/* plainly makes one line of a text, with a semicolon for each of its line ends. */
static char *plainly(char *s)
{
	size_t n;
	char *c;

	for (n = strlen(s); n > 0 && isspace((unsigned char)s[n - 1]); n--)
		s[n - 1] = 0;
	for (c = s; *c != 0; c++)
		*c = *c == '\n' ? ';' : iscntrl((unsigned char)*c) ? ' ' : *c;
	return s;
}

/* find_line copies what follows a key and its colon in a file of /proc. */
static void find_line(const char *path, const char *key, char *s, size_t room)
{
	FILE *f = fopen(path, "r");
	char line[1024], *c;

	snprintf(s, room, "unknown");
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, key, strlen(key)) == 0 && (c = strchr(line, ':')) != NULL) {
			snprintf(s, room, "%s", plainly(c + 1));
			break;
		}
	if (f != NULL)
		fclose(f);
}

/* count_hosts says on how many hosts the ranks are: on one are those that share memory. Each counts the first rank of its own. */
static int count_hosts(void)
{
	int first, n;

#if MPI_VERSION >= 3
	MPI_Comm near;

	MPI_Comm_split_type(meeting, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
	MPI_Comm_rank(near, &n);
	MPI_Comm_free(&near);
	first = n == 0;
#else
	for (n = 0; strcmp(places[n].host, places[rank].host) != 0; n++)
		;
	first = n == rank;
#endif
	MPI_Allreduce(&first, &n, 1, MPI_INT, MPI_SUM, meeting);
	return n;
}

static void find_places(void)
{
	struct place mine;
	int n;

	memset(&mine, 0, sizeof mine);
	MPI_Get_processor_name(mine.host, &n);
	plainly(mine.host);
	find_line("/proc/cpuinfo", "model name", mine.processor, sizeof mine.processor);
	find_line("/proc/self/status", "Cpus_allowed_list", mine.bound, sizeof mine.bound);
	calibrate();
	mine.cost = cost;
	mine.resolution = resolution;
	places = room(ranks * sizeof mine);
	MPI_Allgather(&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, meeting);
	hosts = count_hosts();
}

static void write_places(FILE *f)
{
	int i;

	fprintf(f, "hosts %d\n", hosts);
	for (i = 0; i < ranks; i++) {
		fprintf(f, "host %s\n", places[i].host);
		fprintf(f, "processor %s\n", places[i].processor);
		fprintf(f, "bound %s\n", places[i].bound);
		fprintf(f, "cost %" PRId64 "\n", places[i].cost);
		fprintf(f, "resolution %" PRId64 "\n", places[i].resolution);
	}
}

