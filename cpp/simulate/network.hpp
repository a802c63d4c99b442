// The links that messages share: those of the nodes into the network, and those between nodes.
#pragma once

#include <cstdint>
#include <vector>

namespace hockney {

// A link on a message's way: of its node, or of the memory that it uses, or one between nodes.
struct SharedLink {
    static constexpr std::uint8_t of_node = 0, between = 1;
    std::int32_t link;
    std::uint8_t kind;
};

// Where messages pass: from a node to another over a torus (dimension by dimension, the shorter way round),
// over a tree of switches (up to the first common one, one of its parallel links chosen by the destination),
// or over nothing that is shared but the nodes' own links.
struct Network {
    enum class Kind : std::uint8_t { crossbar, torus, tree };

    std::vector<std::int32_t> node_of_rank;    // none: nothing is shared
    std::vector<std::int32_t> memory_of_rank;  // none: nobody shares it
    Kind kind = Kind::crossbar;
    std::vector<std::int32_t> torus;           // extent of each dimension; the last varies fastest
    std::vector<std::int32_t> below, uplinks;  // of a switch of each level: children, parallel links upwards

    // Both throw std::invalid_argument, or TooLarge, where the fields are no network.
    void check() const;
    void place(std::vector<std::int32_t> nodes);
    std::int32_t nodes() const { return nodes_; }
    std::int32_t memories() const;
    std::int32_t links() const;
    // Links into the network and out of it come first, then those between nodes, then memories.
    std::int32_t first_memory() const { return 2 * nodes_ + links(); }
    // What lies between two ranks: inside a node the memories of both, else links.
    void find_way(std::int32_t sender, std::int32_t receiver, std::vector<SharedLink>& way) const;
    // The links between two nodes in the order in which a message passes them, numbered from 0.
    void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const;

  private:
    void over_torus(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const;
    void over_tree(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const;
    std::int32_t links_of_level(std::size_t level) const;

    std::int32_t nodes_ = 0;
};

}  // namespace hockney
