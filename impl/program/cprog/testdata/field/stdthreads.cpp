// Threads, mutexes and futures of C++.
#include <condition_variable>
#include <future>
#include <mpi.h>
#include <mutex>
#include <stdio.h>
#include <thread>
#include <vector>
static thread_local int own = 3;
int main(int c, char **v) {
	int p, r, n;
	MPI_Init_thread(&c, &v, MPI_THREAD_MULTIPLE, &p);
	MPI_Comm_rank(MPI_COMM_WORLD, &r);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	std::mutex m;
	std::condition_variable ready;
	int sum = 0, done = 0;
	std::vector<std::thread> all;
	for (int i = 0; i < 4; i++)
		all.emplace_back([&, i] {
			int x = 10 * r + i, y;
			own += i;
			MPI_Sendrecv(&x, 1, MPI_INT, (r + 1) % n, i, &y, 1, MPI_INT, (r + n - 1) % n, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			std::lock_guard<std::mutex> guard(m);
			sum += y + own;
			done++;
			ready.notify_one();
		});
	{
		std::unique_lock<std::mutex> guard(m);
		ready.wait(guard, [&] { return done == 4; });
	}
	for (auto &t : all) t.join();
	auto later = std::async(std::launch::async, [&] {
		int x = 1, y;
		MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		std::this_thread::sleep_for(std::chrono::milliseconds(2));
		return y;
	});
	int of_all = later.get();
	std::once_flag once;
	std::call_once(once, [&] { of_all += 100; });
	printf("%d: %d %d %d\n", r, sum, of_all, own);
	MPI_Finalize();
	return 0;
}
