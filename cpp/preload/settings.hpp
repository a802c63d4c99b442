// What the layer is asked to do. It comes in variables of the environment, which reach every node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../schedule/schedule.hpp"

namespace hockney {

// A line of the table: which algorithm where.
struct Rule {
    const Algorithm* algorithm = nullptr;
    int least_ranks = 0, most_ranks = 0;
    Bytes least_B = 0, most_B = 0;
    Bytes segment_B = 0;
    int radix = 0;
    int number = 0;  // its place in the table
};

struct Settings {
    bool is_on = false;        // whether there is anything to do
    bool is_watching = false;  // a profile
    bool is_timed = false;     // whether calls are timed
    bool sums_ranks = false;   // whether the report has the calls of all ranks, else those of rank 0
    bool is_compared = false;  // whether half of the calls that a rule is for are the library's, to compare
    bool is_bitwise = false;   // whether results must be those of the library to the last bit
    // Memory of a process for what a call takes besides the program's own, and for schedules that are kept,
    // of which 64 MiB are some hundred thousand messages.
    Bytes scratch_B = Bytes{256} << 20, kept_B = Bytes{64} << 20;
    // Of a profile's trace: the folder, empty for none; bytes of all ranks; `cpu`, `wall` or what is best;
    // what the MPI library is called.
    std::string trace_folder, trace_clock, mpi;
    std::uint64_t trace_limit_B = 0;
    std::string report;       // file that rank 0 writes; empty for none
    std::vector<Rule> rules;  // the first that fits counts
};

// Read once.
const Settings& settings();

}  // namespace hockney
