// What the collective operations are: the sizes of a rank's buffers, what is in them before and what must be
// after (MPI 4.1, chapter 6).
#pragma once

#include <string>
#include <vector>

#include "schedule.hpp"

namespace hockney {

// One element of a result: who contributed to it and which element of their input.
struct Origin {
    int rank;  // `everyone` for a reduction over all ranks
    Bytes index;
    static constexpr int everyone = -1;
};

struct Collective {
    const char* name;
    bool rooted, reduces;
    Bytes (*input_B)(const Problem&, int rank);
    // 0 where the result is not significant.
    Bytes (*output_B)(const Problem&, int rank);
    // Of the byte at `index` of a rank's output; `bytes` > 0.
    Origin (*origin)(const Problem&, int rank, Bytes index);
};

const std::vector<Collective>& collectives();
// nullptr for an unknown name.
const Collective* find_collective(const std::string& name);

// Where a rank's input lies when the operation is in place: the output, from `offset_B` on. False where the
// rank's input is a buffer of its own all the same (scatter, bcast; ranks other than the root of gather and
// reduce).
bool input_in_output(const Collective& collective, const Problem& problem, int rank, Bytes& offset_B);

}  // namespace hockney
