#include "progress_thread.hpp"

#include <sched.h>
#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <string>

#include "../../clock.hpp"
#include "../../request.hpp"

namespace hockney {
namespace {

constexpr int unsent_tag = 98;

bool is_on(const char* variable) {
    const char* value = std::getenv(variable);
    if (value == nullptr) return false;
    const char* const off[] = {"", "0", "no", "off", "false", "disable"};
    return std::none_of(std::begin(off), std::end(off),
                        [&](const char* word) { return strcasecmp(value, word) == 0; });
}

// Why this process can have no such thread; empty where it can.
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

// Starts the thread on these processors; why that cannot be, or nothing.
std::string started(const std::vector<int>& cpus, MPI_Comm comm, std::unique_ptr<ProgressThread>& thread) {
    cpu_set_t before;
    const cpu_set_t wanted = set_of(cpus);
    sched_getaffinity(0, sizeof before, &before);
    // Processors that are not there, or not allowed, are left out by the system; it refuses where none is
    // left.
    if (sched_setaffinity(0, sizeof wanted, &wanted) != 0)
        return "the system allows none of the processors named for the progress thread";
    std::string why;
    try {
        thread = std::make_unique<ProgressThread>(comm);
    } catch (const std::exception& error) {
        why = std::string("the system starts no progress thread: ") + error.what();
    }
    sched_setaffinity(0, sizeof before, &before);
    return why;
}

}  // namespace

bool wants_progress_thread() { return is_on(progress_thread_variable); }

std::vector<std::string> progress_switches() {
    std::vector<std::string> on;
    for (const char* name : {progress_thread_variable, "MPIR_CVAR_ASYNC_PROGRESS", "MPICH_ASYNC_PROGRESS",
                             "I_MPI_ASYNC_PROGRESS"})
        if (is_on(name)) on.push_back(name);
    return on;
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
    const int rank = rank_of(pair);
    std::unique_ptr<ProgressThread> thread;
    std::string why;
    if (rank == 0) {
        why = why_not();
        if (why.empty()) why = started(cpus, pair, thread);
    }
    // What one rank finds, both refuse.
    int is_refused = why.empty() ? 0 : 1;
    MPI_Bcast(&is_refused, 1, MPI_INT, 0, pair);
    if (is_refused) throw BadRequest(why);
    return thread;
}

}  // namespace hockney
