// A schedule that is ready to run, and what is counted of the calls that it runs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "../runner/collective/program.hpp"

namespace hockney {

struct Count {
    long calls = 0;
    long bytes = 0;
    double time_s = 0;
    // Of calls that were compared: their time, and what they would have taken by the library.
    double compared_s = 0, library_s = 0;
    void add(const Count& other) {
        calls += other.calls;
        bytes += other.bytes;
        time_s += other.time_s;
        compared_s += other.compared_s;
        library_s += other.library_s;
    }
};

// By operation, and by what ran: the rule of the table, or why the library's own code did.
struct Used {
    std::string operation;
    int rule = -1;
    std::string why;
    bool operator<(const Used& other) const {
        return std::tie(operation, rule, why) < std::tie(other.operation, other.rule, other.why);
    }
};
using Totals = std::map<Used, Count>;

struct Prepared {
    std::unique_ptr<Program> program;
    Used used;
    Bytes scratch_B = 0;
    bool writes_output = false;
    Count count, by_library;
    // Those by the schedule, beside what the library's would have taken.
    Count compared() const;
    void add_to(Totals& totals) const;
    // Memory that it takes while it is kept.
    Bytes held_B() const;
};

}  // namespace hockney
