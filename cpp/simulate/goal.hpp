// A user's own graph of messages and computations, as GOAL text has it (Hoefler, Siebert and Lumsdaine, ICPP
// 2009). The text is read as it comes; an operation takes some 30 bytes, its place in time as many again.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cost.hpp"
#include "program.hpp"

namespace hockney {

// What is wrong with a text: where and what, and on a second line what to do.
struct GoalFault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Graph {
  public:
    // An operation: `amount` are bytes of a message, ticks of a computation (`Kind::reduce`).
    struct Operation {
        std::int64_t amount : 56;
        Kind kind : 8;
        std::int32_t peer, tag;
    };

    // Reads a file. GoalFault where it is no GOAL, sends and receives do not match, or what is asked means
    // nothing for one processor and one port a rank; TooLarge where it needs more than `most_B` of memory.
    Graph(const std::string& path, Bytes most_B);

    int ranks() const { return static_cast<int>(begin_.size()) - 1; }
    std::size_t operations() const { return all_.size(); }
    std::int64_t messages() const { return messages_; }
    Bytes largest_B() const;

    // Operations of a rank that do not depend on each other have no order, those of the simulator have: they
    // are put in the order in which each could start if no port and no processor were shared. `message` are
    // costs of the locality that is farthest. GoalFault where operations wait for each other in a circle.
    class Ordered;

  private:
    friend class GoalReader;

    static constexpr std::uint32_t nobody = UINT32_MAX;
    void match();

    std::vector<std::size_t> begin_{0};  // by rank: its first operation
    std::vector<Operation> all_;
    // Of each operation those that wait for it, within its rank: the number, doubled, and whether it waits
    // for the start only.
    std::vector<std::uint32_t> waiting_begin_, waiting_;
    std::vector<std::uint32_t> partner_;  // the other end of a message
    std::int64_t messages_ = 0;
};

class Graph::Ordered {
  public:
    Ordered(const Graph& graph, const CostCurves& costs);
    void write(int rank, Writer& writer) const;

  private:
    const Graph& graph_;
    std::vector<std::uint32_t> order_;  // by rank: numbers within it
    std::vector<std::int32_t> tag_;     // counts the messages of a pair of ranks
};

// One rank's steps as GOAL text, without their braces: `l0: send 8b to 1 tag 0`. A reduction takes so many
// ticks for each byte, a copy none.
std::string goal_text(const RankSchedule& schedule, double reduce_ticks_per_B);

}  // namespace hockney
