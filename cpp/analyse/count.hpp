// Rounds, messages and bytes of a schedule.
#pragma once

#include <string>
#include <vector>

#include "../schedule/schedule.hpp"

namespace hockney {

// One-ported counts: a rank sends at most one message and receives at most one at a time (both at once are
// fine), each in the order listed; copies and reductions take no time (Träff, arXiv 2407.18004).
struct Counts {
    Bytes rounds = 0;    // when every message takes one round
    Bytes messages = 0;  // in all
    Bytes bytes = 0;     // summed over all messages
    // The longest chain of messages that follow one another, by dependencies and ports, counted and weighed.
    Bytes critical_messages = 0, critical_bytes = 0;
    int max_degree = 0;     // of a rank: different ranks it sends to
    Bytes round_bytes = 0;  // summed over the rounds: the largest message of each
    Bytes reduced_bytes = 0, copied_bytes = 0;
    std::vector<Bytes> sent_bytes, received_bytes;  // by rank
    bool blocks = false;  // one-ported in the order listed, the schedule does not get to its end
};

// TooLarge where a sum does not fit into 63 bits.
Counts count(const Schedule& schedule);

// A message of the one-ported schedule and the round it takes, from 0.
struct Move {
    int from, to;
    std::size_t send, receive;  // steps
    Bytes round, length_B;
};

// All messages, in no particular order; fewer than the schedule has where it blocks.
std::vector<Move> moves(const Schedule& schedule);

// What no algorithm can beat, and `counts` does all the same: a defect. Empty where all is well.
//   rounds ≥ ⌈log₂P⌉;  every rank that needs data receives at least what it lacks, every rank whose data is
//   needed sends it at least once, and one round after another at least as much moves as any rank must send
//   or receive;  a broadcast of n one-block messages takes ≥ n − 1 + ⌈log₂P⌉ rounds.
std::vector<std::string> beaten_bounds(const Algorithm& algorithm, const Problem& problem,
                                       const Counts& counts);

}  // namespace hockney
