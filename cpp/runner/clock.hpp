// Time as the runner sees it: one monotonic clock, its granularity, and work that takes time without MPI.
#pragma once

#include <mpi.h>

#include <chrono>
#include <string>

namespace hockney {

#ifdef SMPI_H
// SimGrid's MPI: all ranks are in one process, and the time is the simulation's.
inline constexpr bool is_simulated = true;
inline double now_s() { return MPI_Wtime(); }
#else
inline constexpr bool is_simulated = false;
inline double now_s() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}
#endif

// What tells ranks apart that do not share a clock: the running kernel. (Containers and network namespaces of
// one machine share it.)
std::string clock_domain();

// The smallest step that two successive readings show: resolution and cost of a reading together, in seconds;
// 0 in a simulation.
double clock_granularity_s();

// Returns at that time of now_s(), at once where it has passed.
void wait_until(double time_s);

// Work of a fixed amount (not a fixed time), so that a loop with it and one without can be subtracted.
void spin(long iterations);

}  // namespace hockney
