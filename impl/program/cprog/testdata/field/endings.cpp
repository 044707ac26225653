// The order in which the end of a program calls functions, and what they write into a stream that has a buffer.
#include <mpi.h>
#include <cstdio>
#include <cstdlib>
struct S {
	const char *name;
	~S() { std::printf("%s\n", name); }
};
static S global{"global"};
static void at_exit() { std::puts("atexit"); }
static void on_exit_function(int status, void *) { std::printf("on_exit %d\n", status); }
__attribute__((destructor)) static void last() { std::puts("destructor"); std::fputs("buffered", stdout); }
int main(int c, char **v) {
	MPI_Init(&c, &v);
	on_exit(on_exit_function, nullptr);
	static S local{"local"};
	std::atexit(at_exit);
	MPI_Finalize();
}
