#include "network.hpp"

#include <algorithm>
#include <utility>

namespace hockney {

void Network::place(std::vector<std::int32_t> nodes) {
    node_of_rank = std::move(nodes);
    nodes_ = node_of_rank.empty() ? 0 : *std::max_element(node_of_rank.begin(), node_of_rank.end()) + 1;
}

std::int32_t Network::memories() const {
    if (memory_of_rank.empty()) return 0;
    return *std::max_element(memory_of_rank.begin(), memory_of_rank.end()) + 1;
}

std::int32_t Network::links_of_level(std::size_t level) const {
    std::int32_t nodes_below = 1;
    for (std::size_t i = 0; i <= level; ++i) nodes_below *= below[i];
    return (nodes() + nodes_below - 1) / nodes_below * uplinks[level];
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
    std::int32_t first = 0, nodes_below = 1;
    std::vector<std::int32_t> down;
    for (std::size_t level = 0; level < uplinks.size(); ++level) {
        nodes_below *= below[level];
        const std::int32_t here = from / nodes_below, there = to / nodes_below;
        if (here == there) break;
        const std::int32_t parallel = uplinks[level], one = to % parallel;
        links.push_back(first + here * parallel + one);
        down.push_back(first + links_of_level(level) + there * parallel + one);
        first += 2 * links_of_level(level);
    }
    links.insert(links.end(), down.rbegin(), down.rend());
}

}  // namespace hockney
