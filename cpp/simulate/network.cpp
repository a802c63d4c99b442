#include "network.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "../schedule/schedule.hpp"

namespace hockney {

namespace {

// Nodes, links, memories of ranks.
constexpr std::int64_t most_parts = 1 << 26;

// The product, or a number above the most there may be.
std::int64_t times(std::int64_t number, std::int64_t factor) {
    return number > most_parts / factor ? most_parts + 1 : number * factor;
}

void expect_numbers(const std::vector<std::int32_t>& values, std::int32_t least, const char* what) {
    for (const std::int32_t value : values) {
        if (value < least)
            throw std::invalid_argument(std::string(what) + " must be at least " + std::to_string(least) +
                                        ", not " + std::to_string(value));
        if (value > most_parts)
            throw TooLarge(std::string(what) + " must be at most " + std::to_string(most_parts) + ", not " +
                           std::to_string(value));
    }
}

}  // namespace

void Network::check() const {
    expect_numbers(memory_of_rank, 0, "a memory");
    expect_numbers(torus, 1, "the extent of a torus");
    expect_numbers(below, 1, "the children of a switch");
    expect_numbers(uplinks, 1, "the uplinks of a switch");
    if (!memory_of_rank.empty() && memory_of_rank.size() != node_of_rank.size())
        throw std::invalid_argument("each rank on a node must have a memory");
    if (!torus.empty() && !below.empty())
        throw std::invalid_argument("a network is a torus or a tree of switches, not both");
    if (below.size() != uplinks.size())
        throw std::invalid_argument("each level of switches needs its number of uplinks");
    std::int64_t places = 1, links = 0;
    for (const std::int32_t extent : torus) places = times(places, extent);
    if (!torus.empty()) links = times(places, 2 * static_cast<std::int64_t>(torus.size()));
    if (!torus.empty() && places < nodes_)
        throw std::invalid_argument("the torus has fewer places than there are nodes");
    std::int64_t nodes_below = 1;
    for (std::size_t level = 0; level < below.size() && links <= most_parts; ++level) {
        nodes_below = times(nodes_below, below[level]);
        links += times(2 * ((nodes_ + nodes_below - 1) / nodes_below), uplinks[level]);
    }
    if (links > most_parts)
        throw TooLarge("the network has more than the " + std::to_string(most_parts) + " links that it may");
}

void Network::place(std::vector<std::int32_t> nodes) {
    expect_numbers(nodes, 0, "a node");
    node_of_rank = std::move(nodes);
    nodes_ = node_of_rank.empty() ? 0 : *std::max_element(node_of_rank.begin(), node_of_rank.end()) + 1;
}

void Network::find_way(std::int32_t sender, std::int32_t receiver, std::vector<SharedLink>& way) const {
    const auto a = static_cast<std::size_t>(sender), b = static_cast<std::size_t>(receiver);
    const std::int32_t from = node_of_rank[a], to = node_of_rank[b];
    way.clear();
    if (from == to) {
        if (memory_of_rank.empty()) return;
        way.push_back({first_memory() + memory_of_rank[a], SharedLink::of_node});
        if (memory_of_rank[a] != memory_of_rank[b])
            way.push_back({first_memory() + memory_of_rank[b], SharedLink::of_node});
        return;
    }
    way.push_back({from, SharedLink::of_node});
    std::vector<std::int32_t> between;
    route(from, to, between);
    for (const std::int32_t link : between) way.push_back({2 * nodes_ + link, SharedLink::between});
    way.push_back({nodes_ + to, SharedLink::of_node});
}

std::int32_t Network::memories() const {
    if (memory_of_rank.empty()) return 0;
    return *std::max_element(memory_of_rank.begin(), memory_of_rank.end()) + 1;
}

std::int32_t Network::links_of_level(std::size_t level) const {
    std::int64_t nodes_below = 1;
    for (std::size_t i = 0; i <= level; ++i) nodes_below = times(nodes_below, below[i]);
    return static_cast<std::int32_t>((nodes() + nodes_below - 1) / nodes_below * uplinks[level]);
}

std::int32_t Network::links() const {
    if (kind == Kind::crossbar || node_of_rank.empty()) return 0;
    if (kind == Kind::torus) {
        std::int32_t places = 1;
        for (const std::int32_t extent : torus) places *= extent;
        return places * 2 * static_cast<std::int32_t>(torus.size());
    }
    std::int32_t all = 0;
    for (std::size_t level = 0; level < uplinks.size(); ++level) all += 2 * links_of_level(level);
    return all;
}

void Network::route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const {
    links.clear();
    if (kind == Kind::torus) over_torus(from, to, links);
    if (kind == Kind::tree) over_tree(from, to, links);
}

void Network::over_torus(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const {
    const auto dimensions = static_cast<std::int32_t>(torus.size());
    std::int32_t stride = 1;
    // A link is named by the place that it leaves, its dimension and its direction.
    for (std::int32_t d = dimensions - 1; d >= 0; --d) {
        const std::int32_t extent = torus[static_cast<std::size_t>(d)];
        std::int32_t here = from / stride % extent;
        const std::int32_t there = to / stride % extent;
        const std::int32_t forwards = (there - here + extent) % extent;
        const bool is_forwards = 2 * forwards <= extent;
        for (std::int32_t hop = is_forwards ? forwards : extent - forwards; hop > 0; --hop) {
            links.push_back((from * dimensions + d) * 2 + (is_forwards ? 0 : 1));
            const std::int32_t next = (here + (is_forwards ? 1 : extent - 1)) % extent;
            from += (next - here) * stride;
            here = next;
        }
        stride *= extent;
    }
}

void Network::over_tree(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const {
    std::int32_t first = 0;
    std::int64_t nodes_below = 1;
    std::vector<std::int32_t> down;
    for (std::size_t level = 0; level < uplinks.size(); ++level) {
        nodes_below = times(nodes_below, below[level]);
        const auto here = static_cast<std::int32_t>(from / nodes_below);
        const auto there = static_cast<std::int32_t>(to / nodes_below);
        if (here == there) break;
        const std::int32_t parallel = uplinks[level], one = to % parallel;
        links.push_back(first + here * parallel + one);
        down.push_back(first + links_of_level(level) + there * parallel + one);
        first += 2 * links_of_level(level);
    }
    links.insert(links.end(), down.rbegin(), down.rend());
}

}  // namespace hockney
