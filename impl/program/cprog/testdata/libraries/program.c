// A program that is linked to one library and loads another, or makes the first one wrong.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

extern int total;
int sum(int x);

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	srand(rank);
	sum(rank + 1);
	printf("%d: main, total %d, random %d, descriptor %d\n", rank, total, rand() % 1000, fileno(stdout));
#ifdef LINKED_ALONE
	if (argc > 1) sum(-1);
#else
	if (!dlopen("./none.so", RTLD_NOW)) printf("%d: %s\n", rank, dlerror());
	void *plugin = dlopen(argv[1], RTLD_NOW);
	if (!plugin) {
		printf("%d: %s\n", rank, dlerror());
		return 1;
	}
	int (*run)(int) = (int (*)(int))dlsym(plugin, "run");
	run(rank + 1);
	printf("%d: same handles %d %d\n", rank, dlopen(argv[1], RTLD_NOW) == plugin, dlsym(dlopen(NULL, RTLD_NOW), "total") == &total);
#endif
	MPI_Finalize();
	return 0;
}
