// Algorithms that a user wrote: hockney.schedule.written compiles the text into the words of a small machine,
// which writes each rank's steps here, in the core as in the runner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule.hpp"

namespace hockney {

// A word of the program: an operation, or the number that follows some of them.
using Word = std::int64_t;

// What a user's text asks for cannot be; says where, and on a second line what to do where that is known.
struct WrittenWrong : std::runtime_error {
    using std::runtime_error::runtime_error;
};
// The text says that it is not for this problem.
struct Unmet : WrittenWrong {
    using WrittenWrong::WrittenWrong;
};

constexpr const char* endless =
    "the schedule does not get to its end: a rank waits for ever\n"
    "`hockney schedule verify` says which one, and where";

// Makes the program an algorithm; one of the same name is replaced unless it is one of ours.
const Algorithm& define(const std::string& collective, const std::string& name, std::vector<Word> program);

// Writes one rank's steps. With `only_needs` it ends before the first step, and `builder` is not used.
void run_written(const Algorithm& algorithm, const Problem& problem, int rank, Builder& builder,
                 bool only_needs = false);

}  // namespace hockney
