// What the collective operations are: the sizes of a rank's buffers, what is in them before and what must be
// after (MPI 4.1, chapter 6). The one place that says so: everything else asks, here or through
// `hockney._core`.
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

// Which way data goes: from the root to all ranks, from all to the root, between all.
enum class Direction : std::uint8_t { outward, inward, between_all };

// What MPI_IN_PLACE means.
enum class InPlace : std::uint8_t {
    nothing,              // there is one buffer, or none, anyway
    input_in_output,      // the input lies where the output will
    own_block_in_output,  // the input lies where the rank's own block of the output will
    output_in_input,      // the root's output is its block of the input
    overwrites_input      // as input_in_output, and results overwrite inputs that are still to be sent
};

struct Collective {
    using Size = Bytes (*)(const Problem&, int rank);

    const char* name;
    Direction direction;
    InPlace in_place = InPlace::nothing;
    bool reduces = false;
    bool sizes_are_blocks = false;   // `Problem::bytes` is one rank's block; else the whole vector
    bool has_size = true;            // else it moves no data: every rank must have heard from every other
    bool root_sends_output = false;  // the root's input is what its output buffer holds
    Size input_B = nullptr;
    Size output_B = nullptr;  // 0 where the result is not significant
    // What a result needs beyond the rank's own data, and what other ranks need of the rank's data; sums of
    // many contributions fit into one message.
    Size lacks_B = nullptr, owes_B = nullptr;
    // Of the byte at `index` of a rank's output; `bytes` > 0.
    Origin (*origin)(const Problem&, int rank, Bytes index) = nullptr;

    Collective(const char* name_, Direction direction_) : name(name_), direction(direction_) {}
    Collective& sized(Size input, Size output) { return input_B = input, output_B = output, *this; }
    Collective& moving(Size lacks, Size owes) { return lacks_B = lacks, owes_B = owes, *this; }
    Collective& from(decltype(origin) of) { return origin = of, *this; }
    Collective& placed(InPlace meaning) { return in_place = meaning, *this; }
    Collective& reducing() { return reduces = true, *this; }
    Collective& of_blocks() { return sizes_are_blocks = true, *this; }
    Collective& without_size() { return has_size = false, *this; }
    Collective& one_buffer() { return root_sends_output = true, *this; }

    bool rooted() const { return direction != Direction::between_all; }
    // Whether this rank's output buffer holds what it sends before it starts.
    bool sends_output(const Problem& problem, int rank) const {
        return root_sends_output && rank == problem.root;
    }
};

const std::vector<Collective>& collectives();
// nullptr for an unknown name.
const Collective* find_collective(const std::string& name);

// Where a rank's input lies when the operation is in place: the output, from `offset_B` on. False where the
// rank's input is a buffer of its own all the same (scatter, bcast; ranks other than the root of gather and
// reduce).
bool input_in_output(const Collective& collective, const Problem& problem, int rank, Bytes& offset_B);

}  // namespace hockney
