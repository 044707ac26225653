/* ---- where it ran ---- */

struct place {
	char host[MPI_MAX_PROCESSOR_NAME + 1];
	char processor[256]; /* its model */
	char bound[1024];    /* processors on which the rank may run, such as 0-3,8 */
	int64_t cost, resolution;
};

static struct place *places; /* of each rank */
static int hosts;
static int processors; /* on which any of the ranks may run; 0: not known */

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

static void find_bound(char *s, size_t room)
{
	snprintf(s, room, "unknown");
#ifdef __linux__
	cpu_set_t set;
	size_t n = 0;
	int i, end;

	if (sched_getaffinity(0, sizeof set, &set) != 0)
		return;
	for (i = 0; i < CPU_SETSIZE && n + 32 < room; i = end + 1) {
		end = i;
		if (!CPU_ISSET(i, &set))
			continue;
		while (end + 1 < CPU_SETSIZE && CPU_ISSET(end + 1, &set))
			end++;
		n += snprintf(s + n, room - n, n > 0 ? ",%d" : "%d", i);
		if (end > i)
			n += snprintf(s + n, room - n, "-%d", end);
	}
#endif
}

/* count_processors says how many processors all ranks together may run on, if they are on one host. */
static int count_processors(void)
{
#ifdef __linux__
	cpu_set_t mine, all;

	CPU_ZERO(&mine);
	sched_getaffinity(0, sizeof mine, &mine);
	MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, meeting);
	return CPU_COUNT(&all);
#else
	return 0;
#endif
}

static void find_processor(char *s, size_t room)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[512], *c;

	snprintf(s, room, "unknown");
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, "model name", 10) == 0 && (c = strchr(line, ':')) != NULL) {
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
	find_processor(mine.processor, sizeof mine.processor);
	find_bound(mine.bound, sizeof mine.bound);
	calibrate();
	mine.cost = cost;
	mine.resolution = resolution;
	places = room(ranks * sizeof mine);
	MPI_Allgather(&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, meeting);
	hosts = count_hosts();
	processors = count_processors();
	if (ranks == 2 && hosts == 1 && strcmp(places[0].bound, places[1].bound) == 0 && strspn(mine.bound, "0123456789") == strlen(mine.bound))
		fail("both ranks may run on processor %s alone, and would take turns on it: they need two", mine.bound);
}

static void write_places(FILE *f)
{
	int i;

	fprintf(f, "hosts %d\nranks %d\nprocessors %d\n", hosts, ranks, processors);
	for (i = 0; i < ranks; i++) {
		fprintf(f, "host %s\n", places[i].host);
		fprintf(f, "processor %s\n", places[i].processor);
		fprintf(f, "bound %s\n", places[i].bound);
		fprintf(f, "cost %" PRId64 "\n", places[i].cost);
		fprintf(f, "resolution %" PRId64 "\n", places[i].resolution);
	}
}

