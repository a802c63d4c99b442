// What a program calls, for a profile: counts, bytes and times by communicator, operation and call site; and,
// for some of the blocking collectives, when each rank came and went, from which waiting follows. Nothing is
// sent while the program runs.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "../schedule/schedule.hpp"

namespace hockney {

// What was seen on communicators of the same ranks and name: those that a program makes again and again are
// one, those that live at the same time are numbered.
class Watched {
  public:
    // Of a communicator, which is asked for its ranks; MPI_COMM_NULL for calls that name none. One for all
    // communicators beyond what a process notes.
    static Watched& of(MPI_Comm comm);
    // Of a communicator's blocking collectives, which no other one that lives now has: to be given back by
    // `leave`. The first call of it on all ranks asks, so that all have the same.
    static Watched& taken(MPI_Comm comm);
    void leave();
    // Before the first call and after the last, on all ranks; the latter returns lines of all of them on rank
    // 0.
    static void begin();
    static std::string end();
    // Now, on the clock of all ranks.
    static double global_s();

    Watched();
    ~Watched();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    void add(const char* operation, const void* site, Bytes bytes, int root, bool is_blocking, double start_s,
             double end_s);

  private:
    // Makes all communicators keep less of comings and goings, until a rank has room for more.
    static void share();

    struct Notes;
    std::unique_ptr<Notes> notes_;
    bool is_taken_ = false;
};

// `file+0x1234 (function)`: what a debugger makes a line of.
std::string described(const void* site);

// Where the program's latest call of this thread returns to.
inline thread_local const void* call_site = nullptr;

}  // namespace hockney
