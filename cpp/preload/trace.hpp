// The order of a rank's events, kept in a file while the program runs (format.hpp): what it called, with
// whom, and how long it computed between two calls. One thread at a time is in MPI, or the trace ends and
// says so.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "../schedule/schedule.hpp"
#include "format.hpp"
#include "requests.hpp"

namespace hockney {
class Channel;
}

namespace hockney::trace {

// Before the first call and after the last, on all ranks. Nothing is kept where no folder was asked for.
void begin();
// When the program's first call may come.
void begin_events();
// `site` of MPI_Finalize.
void end(const void* site);

// Whether calls are written.
inline std::atomic<bool> is_on{false};

// What a trace knows of a communicator, for as long as that lives.
struct Traced {
    std::int64_t number = unknown;
    // Of a topology: those that are not there too.
    std::vector<int> sources, targets;
    static constexpr std::int64_t unknown = -1, outside = -2;
};

// A call of the program. A call that another one makes is none in the trace.
class Visit {
  public:
    // `name` of the function, which stays. Nobody else writes until it ends.
    Visit(const char* name, const void* site);
    ~Visit();
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    // The library's part begins and is over.
    void enter();
    void leave();
    // Whether it is to be written.
    bool is_traced() const { return is_traced_; }
    const char* name() const { return name_; }
    const void* site() const { return site_; }
    // Nothing came of it: the time before it is that of what comes next, and its own is inside that.
    void skip() const;
    // Found nothing, or what a test was for: where a loop tests until there is something, it waits; where it
    // goes on without, its tests are its computing, with what they take.
    void test() const;
    void settle() const;

    std::int64_t gap_ns() const { return gap_ns_; }
    std::int64_t gap_cpu_ns() const { return gap_cpu_ns_; }
    double start_s() const { return static_cast<double>(start_ns_) * 1e-9; }
    double end_s() const { return static_cast<double>(end_ns_) * 1e-9; }

  private:
    friend class Event;
    // Of the program before the call, and that with more as the computing of what comes next.
    std::int64_t own_ns() const;
    std::int64_t own_cpu_ns() const;
    void carry(std::int64_t more_ns) const;

    const char* name_;
    const void* site_;
    bool is_entered_ = false, is_traced_ = false;
    std::int64_t start_ns_ = 0, end_ns_ = 0, goes_on_ns_ = 0;
    // Of the program, before the call.
    std::int64_t gap_ns_ = 0, gap_cpu_ns_ = 0;
};

// What the layer does once, while it lives: it is no time of the program, however long it takes.
class Once {
  public:
    Once();
    ~Once();
    Once(const Once&) = delete;
    Once& operator=(const Once&) = delete;

  private:
    bool is_outermost_;
    std::int64_t start_ns_ = 0, start_cpu_ns_ = 0;
};

// How a number is written; one that may be below 0 as `Signed`.
struct Signed {
    std::int64_t number;
};
inline std::uint64_t wire(Signed s) {
    return (static_cast<std::uint64_t>(s.number) << 1) ^ static_cast<std::uint64_t>(s.number >> 63);
}
template <class Number>
std::uint64_t wire(Number number) {
    return static_cast<std::uint64_t>(number);
}

// A record, from its construction to its end. What it names was defined before.
class Event {
  public:
    // `most_numbers` follow at most.
    Event(Kind kind, const Visit& visit, std::size_t most_numbers = 16);
    // A definition.
    Event(Kind kind, std::size_t most_B);
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    template <class... Numbers>
    Event& add(Numbers... numbers) {
        if (at_ != nullptr) (put(wire(numbers)), ...);
        return *this;
    }
    Event& add_text(const std::string& text);

  private:
    void put(std::uint64_t number) {
        for (; number >= 0x80; number >>= 7) *at_++ = static_cast<unsigned char>(number | 0x80);
        *at_++ = static_cast<unsigned char>(number);
    }

    Kind kind_;
    unsigned char* at_;
};

// Numbers are written in at most so many bytes.
constexpr std::size_t number_B = 10;

inline std::uint64_t hash_of(const std::vector<std::int64_t>& numbers) {
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    for (const std::int64_t number : numbers)
        hash = (hash ^ static_cast<std::uint64_t>(number)) * 1099511628211ULL;
    return hash;
}

// The ranks of a group in the world; false where some are not there.
bool world_ranks(MPI_Group group, std::vector<int>& there);

// Whether there are more ranks on this machine, in whatever containers, than processors that they may use; on
// all ranks.
bool shares_cores();

// Numbers of what is defined, now if it is not yet.
std::uint64_t site_number(const void* site);
std::uint64_t name_number(const char* name);
std::uint64_t vector_number(const std::vector<Bytes>& bytes);
// Of a communicator: not below 0; `outside` where it has ranks of another world.
std::int64_t comm_number(MPI_Comm comm, Channel& channel);
// A duplicate of it, whose handle comes later.
std::int64_t duplicate_number(MPI_Comm comm, Channel& channel);

// Those that are under way; requests are numbered from 0 on.
Requests& requests();

}  // namespace hockney::trace
