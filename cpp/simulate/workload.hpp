// What is simulated: each rank's program, and what happens when it is gone through.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cost.hpp"
#include "program.hpp"

namespace hockney {

// Something that happens. `slot` is the message's; slots are used again when a message is done with.
struct Event {
    std::int32_t rank, peer, slot;  // peer and slot of work: its ticks
    std::uint32_t step;             // the phase, where the rank finishes it
    std::uint32_t size : 24, locality : 8;
    Op op : 5;
    bool is_first : 1;                         // that is heard of the message
    bool is_last : 1;                          // of the receives that are waited for together
    bool is_overtaken : 1, is_disordered : 1;  // see Act
    bool is_buffered : 1;                      // recorded: nobody waits for its message to be taken

    double ticks() const { return static_cast<double>(Act{peer, slot, 0, 0, Op::work}.ticks()); }
};

// Phases whose messages are told apart: the tags of each are 28 of 32 bits.
constexpr std::size_t most_phases = 16;

// How a phase is gone through. Where to begin, and whether the data flows towards that rank, only spare
// memory.
struct Course {
    int first = 0;
    bool is_inward = false;
    Likeness alike = Likeness::none;  // of ranks that do the same, whatever it costs them
    const Problem* uneven = nullptr;  // … but for blocks of its vector that differ by one element
    bool is_streamed = false;         // its program comes in parts, until one is empty
};

// What is simulated: one operation after another, each rank going on to the next by itself.
struct Workload {
    int ranks = 0;
    // With `uneven`, as rank 0 stands for all.
    std::function<void(int phase, int rank, std::vector<Act>& acts, Uneven* uneven)> program;
    Sizes* sizes = nullptr;
    std::function<bool(Bytes size_B, std::size_t locality)>
        meets;                    // whether a message waits for its receiver
    bool rendezvous = false;      // whether some message may be
    std::vector<Course> courses;  // by phase
    Domains domains;
    // Senders that wait for no receiver go on at once, as in programs that rely on buffers.
    bool buffers = false;
    // Called with a rank that can go on no more and its step: throws, or all such end there. None: it is an
    // error.
    std::function<void(int rank, std::uint32_t step)> stop;

    int phases() const { return static_cast<int>(courses.size()); }
    const Course& course(int phase) const { return courses[static_cast<std::size_t>(phase)]; }
};

// Counts of costs on terms of their own become those of the curves that they are paid by.
void as_usual(const Sizes& sizes, const Costs& costs, const CostCurves& curves, std::vector<double>& counts);

}  // namespace hockney
