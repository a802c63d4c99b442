#include "arguments.hpp"

#include <cmath>
#include <stdexcept>

#include "../simulate/cost.hpp"

namespace hockney {

const Collective& known(const std::string& collective) {
    const Collective* entry = find_collective(collective);
    if (entry == nullptr) throw std::invalid_argument("unknown collective " + collective);
    return *entry;
}

const Algorithm& known(const std::string& collective, const std::string& algorithm) {
    const auto entry = algorithms().find({collective, algorithm});
    if (entry == algorithms().end())
        throw std::invalid_argument("unknown algorithm " + collective + " " + algorithm);
    return entry->second;
}

const Algorithm& accepted(const std::string& collective, const std::string& algorithm,
                          const Problem& problem) {
    const Algorithm& entry = known(collective, algorithm);
    if (const std::string reason = refusal(entry, problem); !reason.empty())
        throw std::invalid_argument(reason);
    return entry;
}

void expect_accepted(const Collective& collective, const Problem& problem) {
    if (const std::string reason = refusal(collective, problem); !reason.empty())
        throw std::invalid_argument(reason);
}

void expect_rank(int rank, const Problem& problem) {
    if (rank < 0 || rank >= problem.ranks)
        throw std::out_of_range("rank " + std::to_string(rank) + " is none of 0 to " +
                                std::to_string(problem.ranks - 1));
}

void expect_time(double value_s) {
    if (!(std::abs(value_s) <= longest_s))
        throw std::invalid_argument(std::to_string(value_s) + " s is no time");
}

}  // namespace hockney
