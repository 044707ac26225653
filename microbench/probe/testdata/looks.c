/* What lead.c makes of looks: it says again the lines of microbench/testdata/looks.txt, but with what it comes to itself. MPI is not started. */
#define main probe
#include "../program/probe.c"
#undef main

enum { MOST = 8 };

static struct task task, errands[MOST]; /* that is visited; that are to be */
static int todo[MOST], pending;

static void begin_launch(int64_t p1, int64_t p2)
{
	memset(&pace, 0, sizeof pace);
	memset(&task, 0, sizeof task);
	plan.best[0] = p1;
	plan.best[1] = p2;
	tasks = &task;
	tasked = 1;
}

static void see_both(int64_t p1, int64_t p2)
{
	int64_t looks[2] = {p1, p2};

	see(looks);
}

static int state_now(int64_t p1, int64_t p2)
{
	int64_t looks[2] = {p1, p2};

	return state_of(looks);
}

/* visit_at keeps a sample of each timer with each root, numbered. */
static void visit_at(int64_t p1, int64_t p2)
{
	int timer, root;

	for (timer = 0; timer < TIMERS; timer++)
		for (root = 0; root < 2; root++) {
			taken.n[timer][root] = 1;
			taken.times[timer][root][0] = 10 * task.samples + root;
		}
	slower[0] = p1;
	slower[1] = p2;
	task.stage = 0;
	keep(&task);
}

static void show_parts(const char *mode, const char *name)
{
	int timer = 0, state, root, i, n;

	cells[0].mode = find_mode(mode);
	for (task.stage = 0; task.stage < STAGES; task.stage++)
		for (timer = 0; timer < stages[task.stage].timers; timer++)
			if (strcmp(stages[task.stage].names[timer], name) == 0)
				goto found;
found:
	printf("parts %s %s", mode, name);
	for (state = QUICK; state < STATES; state++) {
		if (state != part(state, alone(&task, timer)) || in_state(&task, timer, 0, state) == 0)
			continue;
		printf(" %s", paces[state]);
		for (root = 0; root < 2; root++)
			for (i = 0, n = in_state(&task, timer, root, state); i < n; i++)
				printf(" %d", (int)scratch[i]);
	}
	printf("\n");
}

static void read_errands(char *line)
{
	char *word;

	strtok(line, " \n");
	for (pending = 0; pending < MOST && (word = strtok(NULL, " \n")) != NULL; pending++) {
		todo[pending] = pending;
		errands[pending].alone = strcmp(word, "both") != 0;
		errands[pending].both = strcmp(word, "alone") != 0;
	}
}

static void show_aim(void)
{
	choose();
	printf("aim %s %d\n", paces[aim], scarce);
}

static void show_next(void)
{
	tasks = errands;
	printf("next %d\n", next(todo, pending));
	tasks = &task;
}

/* obey_line does what a line says, and says it again. */
static void obey_line(char *line)
{
	char a[32], b[32];
	int p1, p2, n;

	if (sscanf(line, "state %d %d", &p1, &p2) == 2)
		printf("state %d %d %s\n", p1, p2, paces[state_now(p1, p2)]);
	else if (sscanf(line, "parts %31s %31s", a, b) == 2)
		show_parts(a, b);
	else if (strncmp(line, "best ", 5) == 0)
		printf("best %d %d\n", (int)best(0), (int)best(1));
	else if (strncmp(line, "aim ", 4) == 0)
		show_aim();
	else if (strncmp(line, "next ", 5) == 0)
		show_next();
	else
		printf("%s", line);
	if (sscanf(line, "launch %d %d", &p1, &p2) == 2)
		begin_launch(p1, p2);
	else if (sscanf(line, "look %d %d", &p1, &p2) == 2)
		see_both(p1, p2);
	else if (sscanf(line, "looks %d %d %d", &n, &p1, &p2) == 3)
		for (; n > 0; n--)
			see_both(p1, p2);
	else if (sscanf(line, "visit %d %d", &p1, &p2) == 2)
		visit_at(p1, p2);
	else if (strncmp(line, "errands ", 8) == 0)
		read_errands(line);
}

int main(void)
{
	static struct cell cell;
	char line[256];

	cells = &cell;
	resolution = 1000;
	while (fgets(line, sizeof line, stdin) != NULL)
		obey_line(line);
	return 0;
}
