// Which algorithms this runner can measure, and which requests make sense.
#pragma once

#include <string>

#include "../../schedule/schedule.hpp"
#include "../library/library.hpp"
#include "../request.hpp"

namespace hockney {

// The algorithms as a JSON list: the library's default, our schedules, the library's own.
std::string algorithms_json();

// nullptr where there is none of that name.
const LibraryAlgorithm* find_library_algorithm(const std::string& operation, const std::string& name);
const Algorithm* find_schedule(const std::string& operation, const std::string& name);

// Takes a schedule that a user wrote, before it is asked for by its name.
void define_schedule(const Request& request);

// What a request asks of an algorithm.
Problem problem_of(const Request& request);

// BadRequest for a request that is wrong, Refusal where the algorithm does not do it.
void check_collective(const Request& request, int ranks);

}  // namespace hockney
