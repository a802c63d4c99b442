#include "progress_thread.hpp"

#include <sched.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "../../clock.hpp"
#include "../../request.hpp"

namespace hockney {
namespace {

constexpr int unsent_tag = 98;

// Why there can be no such thread; empty where there can.
std::string why_not() {
    if (is_simulated) return "a simulated process has no second thread";
    int provided = MPI_THREAD_SINGLE;
    MPI_Query_thread(&provided);
    if (provided >= MPI_THREAD_MULTIPLE) return "";
    if (wants_progress_thread()) return "this MPI takes calls from one thread only (no MPI_THREAD_MULTIPLE)";
    return std::string("a progress thread needs ") + progress_thread_variable +
           "=1 in the environment of the launch";
}

cpu_set_t set_of(const std::vector<int>& cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus)
        if (cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
    return set;
}

}  // namespace

bool wants_progress_thread() {
    const char* value = std::getenv(progress_thread_variable);
    return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

ProgressThread::ProgressThread(MPI_Comm comm) {
    thread_ = std::thread([this, comm] {
        int is_there = 0;
        while (!is_over_.load(std::memory_order_relaxed))
            MPI_Iprobe(MPI_ANY_SOURCE, unsent_tag, comm, &is_there, MPI_STATUS_IGNORE);
    });
}

ProgressThread::~ProgressThread() {
    is_over_.store(true, std::memory_order_relaxed);
    thread_.join();
}

std::unique_ptr<ProgressThread> progress_thread_on(const std::vector<int>& cpus, MPI_Comm pair) {
    const std::string why = why_not();
    if (!why.empty()) throw BadRequest(why);
    int rank = 0;
    MPI_Comm_rank(pair, &rank);
    cpu_set_t before;
    const cpu_set_t wanted = set_of(cpus);
    sched_getaffinity(0, sizeof before, &before);
    // Processors that are not there, or not allowed, are left out by the system; it refuses where none is
    // left.
    int is_bound = rank != 0 || sched_setaffinity(0, sizeof wanted, &wanted) == 0 ? 1 : 0;
    MPI_Bcast(&is_bound, 1, MPI_INT, 0, pair);
    if (!is_bound) throw BadRequest("the system allows none of the processors named for the progress thread");
    if (rank != 0) return nullptr;
    auto thread = std::make_unique<ProgressThread>(pair);
    sched_setaffinity(0, sizeof before, &before);
    return thread;
}

}  // namespace hockney
