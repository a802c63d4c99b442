// What messages and local work cost: LogGOPS (Hoefler, Schneider and Lumsdaine 2010), written as curves over
// the message size, so that any dependence on size, protocol and locality has the same form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../schedule/schedule.hpp"

namespace hockney {

// Of one message between two ranks of one locality, in seconds.
//   send: the sender's processor is busy (o_s + O·m);   gap: its port is (g + (m − 1)G);
//   transfer: from leaving to having arrived (L + (m − 1)G);   drain: the receiver's port is busy;
//   receive: the receiver's processor is (o_r + O·m).
//   handshake: negative for an eager message; else the time of a request, and of its answer: the message
//   leaves when the request has come, the receive is posted and the answer is back (S of LogGPS). node_link:
//   what the message takes of the time of its nodes' links into the network, which the ranks of a node share
//   (max-rate; Gropp, Olson and Samfass 2016);   network_link: of each link between the nodes;
//   hop: how long its head takes from one of those links to the next;   duplex: what it takes, at either end,
//   of what the messages of a rank share in both directions;   behind: of messages by streams that keep their
//   order, one to each peer, which share their nodes' links fairly and have no port, drain or duplex: how
//   long a request or an answer waits at most for what its rank sends to others (for what it sends to the
//   same rank it waits until that is out). 0 where there are no streams.
enum class Term : std::uint8_t {
    send,
    receive,
    gap,
    drain,
    transfer,
    handshake,
    insert,
    node_link,
    network_link,
    hop,
    duplex,
    behind
};
constexpr std::size_t term_count = 12;

// Handshakes that are none: the message is the sender's no more as soon as it is sent, or when it is out.
constexpr double buffered = -1, held = -2;

// The size of what takes a nanosecond of the processor, whatever the machine.
constexpr Bytes tick_B = -1;

// Sums of shorter times stay numbers, whatever is added up.
constexpr double longest_s = 1e100;

// Linear between its points, beyond the last on the line through the last two; constant before the first.
struct Curve {
    std::vector<double> size_B, time_s;  // sizes increase; none at all is 0

    double at(Bytes size_B) const;
};

struct CostCurves {
    std::vector<std::vector<Curve>> message;  // by locality, then by term
    Curve copy, reduce;
};

bool cost_anything(const Curve& curve);
bool cost_anything(const CostCurves& costs, Term term);

// The costs of the sizes that occur: `time_s[entry(size, locality) + term]`; a size ends with a copy and a
// reduction.
class Costs {
  public:
    explicit Costs(std::size_t localities, std::vector<double> table_s = {})
        : time_s(std::move(table_s)), localities_(localities) {}

    std::size_t row() const { return localities_ * term_count + 2; }
    std::size_t entry(std::size_t size, std::size_t locality) const {
        return size * row() + locality * term_count;
    }
    std::size_t work(std::size_t size, bool is_reduction) const {
        return (size + 1) * row() - 2 + (is_reduction ? 1 : 0);
    }
    std::size_t sizes() const { return time_s.size() / row(); }
    // Throws std::invalid_argument for a cost of which no sum can be taken. See `Terms` of sizes.
    void add(Bytes size_B, const CostCurves& curves, double factor = 1, bool is_synchronous = false);

    std::vector<double> time_s;
    std::vector<Bytes> size_B;  // of each size

  private:
    std::size_t localities_;
};

// An event names its locality in 8 bits.
constexpr std::size_t most_localities = 256;

// Which ranks share what: ids of the domains of each rank, innermost level first. The locality of two ranks
// is the first level at which their ids agree, and the number of levels where none does.
struct Domains {
    std::vector<std::vector<std::int32_t>> levels;

    std::size_t locality(std::int64_t a, std::int64_t b) const {
        std::size_t level = 0;
        while (level < levels.size() && id(level, a) != id(level, b)) ++level;
        return level;
    }
    std::int32_t id(std::size_t level, std::int64_t rank) const {
        return levels[level][static_cast<std::size_t>(rank)];
    }
    std::size_t localities() const { return levels.size() + 1; }
};

}  // namespace hockney
