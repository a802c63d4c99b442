// A thread that calls the library while its process computes, for libraries that have none of their own.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace hockney {

// The variable of the environment that asks MPI for calls from any thread. It is a choice of the launch,
// because every call of a library that is ready for them takes longer.
inline constexpr const char* progress_thread_variable = "HOCKNEY_PROGRESS_THREAD";

// Whether the variable is set, and to none of the words for off (0, no, off, false, disable).
bool wants_progress_thread();

// The variables set in this process, and not to off, that ask for a thread beside the rank: ours, and those
// of libraries.
std::vector<std::string> progress_switches();

// Works from its construction to its destruction: it looks for messages that nobody sends, and with each look
// the library proceeds with what is under way. It is bound as the thread that makes it.
class ProgressThread {
  public:
    explicit ProgressThread(MPI_Comm comm);
    ~ProgressThread();
    ProgressThread(const ProgressThread&) = delete;
    ProgressThread& operator=(const ProgressThread&) = delete;

  private:
    std::atomic<bool> is_over_{false};
    std::thread thread_;
};

// Collective over a pair: one for rank 0 that runs on any of these processors, none for rank 1. BadRequest on
// both where the library of rank 0 takes no calls from a second thread, or the system allows no thread or
// none of the processors.
std::unique_ptr<ProgressThread> progress_thread_on(const std::vector<int>& cpus, MPI_Comm pair);

}  // namespace hockney
