// An effect: what a ping-pong hides of an MPI and the machine below it (overlap, synchronisation, queues …).
// One file each, registered in itself.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "../apps/app.hpp"

namespace hockney {

constexpr int any_number = std::numeric_limits<int>::max();

struct Effect {
    // Collective over `comm`, whose ranks are the request's `members` in the order named: each calls it with
    // the same request. The record of its rank 0 is the answer. Throws Refusal or BadRequest, on every rank
    // or on none.
    std::string (*run)(const Request& request, MPI_Comm comm);
    // How many members it can have; none needs fewer than two.
    int most_ranks = 2;
};

using RegisterEffect = RegisterUnit<Effect>;

// An MPI_Barrier ends at different times on different ranks; this starts both ranks of a pair together as
// nearly as the time of one message allows: rank 0 goes on when rank 1's answer is there.
void meet(MPI_Comm pair);

// The samples that are kept, how many are not, and on rank 0 each rank's median of its own times.
struct Quiet {
    std::vector<std::size_t> kept;
    long set_aside;
    std::vector<double> medians_s;
};
// Keeps of `repeated` the samples during which the system preempted no rank; all where those would be less
// than a quarter, as `disturbed` has it. `own_s` and `preempted` are this rank's, of the repetition that
// warms up, too. Collective.
Quiet keep_quiet(Repeated& repeated, std::vector<double> own_s, std::vector<int> preempted, MPI_Comm comm);
std::vector<double> only(const std::vector<std::size_t>& kept, const std::vector<double>& samples_s);

// Does nothing for that long: no call of the library, and the processor is kept; simulated time is charged.
void stay_away(double seconds);

}  // namespace hockney
