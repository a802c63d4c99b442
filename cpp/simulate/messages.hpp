// The messages that are under way, found by who sends them to whom. The few of a rank stand in a chain; what
// is too many for it in a hash table with linear probing, so that a rank with very many messages costs no
// more for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "room.hpp"

namespace hockney {

struct MessageKey {
    std::int32_t box = 0, from = 0, tag = 0;  // box: whose it is
};
inline bool operator==(const MessageKey& a, const MessageKey& b) {
    return a.box == b.box && a.from == b.from && a.tag == b.tag;
}

class Messages {
  public:
    struct Slot {
        MessageKey key;
        std::int32_t next;        // in the chain, or among the free ones; of one in the table, its place
        std::uint32_t size : 24;  // the sender's
        std::uint32_t chain : 4;  // its length from here on; 0: in the table
        bool is_sent : 1, is_posted : 1;
        std::uint32_t uses : 2;
    };

    // `beside_B`: what the caller holds of each message.
    Messages(std::size_t boxes, std::size_t beside_B, Room& room) : room_(room), beside_B_(beside_B) {
        room_.resize(chains_, boxes, none);
    }

    Slot& operator[](std::int32_t slot) const {
        const auto at = static_cast<std::size_t>(slot);
        return blocks_[at / block][at % block];
    }

    // -1 for none.
    std::int32_t find(const MessageKey& key) const {
        for (std::int32_t slot = chain_of(key); slot != none; slot = (*this)[slot].next)
            if ((*this)[slot].key == key) return slot;
        if (in_table_ == 0) return none;
        for (std::size_t place = home_of(key);; place = after(place)) {
            room_.look(1);
            if (table_[place] == none || is_at(place, key)) return table_[place];
        }
    }

    // Found, or new: it goes when it has been used `uses` times.
    std::int32_t get(const MessageKey& key, std::uint32_t uses, bool& is_new) {
        if (uses > 1) {
            const std::int32_t known = find(key);
            is_new = known == none;
            if (!is_new) return known;
        }
        is_new = true;  // the one use of a message follows what is heard of it first
        const std::int32_t slot = new_slot();
        std::int32_t& first = chain_of(key);
        const std::uint32_t others = first == none ? 0 : (*this)[first].chain;
        if (others < longest_chain) {
            (*this)[slot] = {key, first, 0, (others + 1) & 15U, false, false, uses & 3U};
            return first = slot;
        }
        (*this)[slot] = {key, 0, 0, 0, false, false, uses & 3U};
        insert(slot);
        return slot;
    }

    void use(std::int32_t slot) {
        Slot& used = (*this)[slot];
        if (--used.uses > 0) return;
        if (used.chain > 0) {
            std::int32_t* link = &chain_of(used.key);
            while (*link != slot) link = &(*this)[*link].next;
            *link = used.next;
        } else {
            table_[static_cast<std::size_t>(used.next)] = gone;
            --in_table_;
        }
        used.next = free_;
        free_ = slot;
    }

  private:
    static constexpr std::int32_t none = -1, gone = -2;
    static constexpr std::uint32_t longest_chain = 8, row = 16;
    static constexpr std::size_t block = 4096;

    std::int32_t& chain_of(const MessageKey& key) { return chains_[static_cast<std::size_t>(key.box)]; }
    std::int32_t chain_of(const MessageKey& key) const { return chains_[static_cast<std::size_t>(key.box)]; }

    std::int32_t new_slot() {
        if (free_ == none) {
            if (slot_count_ % block == 0) {
                // A place in the table is free for each that is taken.
                room_.take(block, sizeof(Slot) + 4 * sizeof(std::int32_t) + beside_B_);
                if (slot_count_ + block > std::numeric_limits<std::int32_t>::max())
                    throw TooLarge(
                        "more than 2^31 messages are under way at once\nleave out ranks or messages");
                blocks_.push_back(std::make_unique<Slot[]>(block));
            }
            return static_cast<std::int32_t>(slot_count_++);
        }
        const std::int32_t slot = free_;
        free_ = (*this)[slot].next;
        return slot;
    }

    // In the next row: displaced neighbours lie side by side there. After the last row, one place on.
    std::size_t after(std::size_t place) const {
        return place + row < table_.size() ? place + row : (place + row + 1) & (table_.size() - 1);
    }
    bool is_at(std::size_t place, const MessageKey& key) const {
        return table_[place] >= 0 && (*this)[table_[place]].key == key;
    }
    // Neighbouring ranks mostly hear of ranks at the same distance: such messages lie side by side, in short
    // rows, which begin anywhere so that none of their places is taken more often than others.
    std::size_t home_of(const MessageKey& key) const {
        const auto box = static_cast<std::uint32_t>(key.box);
        std::uint64_t hash = (box - static_cast<std::uint32_t>(key.from)) * 0x9E3779B97F4A7C15U;
        hash = (hash ^ (hash >> 32U) ^ static_cast<std::uint32_t>(key.tag)) * 0xD6E8FEB86659FD93U;
        hash = (hash ^ (hash >> 32U) ^ (box / row)) * 0xD6E8FEB86659FD93U;
        return ((hash >> 32U) * row + (box + hash) % row) & (table_.size() - 1);
    }
    void insert(std::int32_t slot) {
        if (2 * (taken_ + 1) > table_.size()) rebuild();
        put(slot);
        ++in_table_;
    }
    void put(std::int32_t slot) {
        std::size_t place = home_of((*this)[slot].key);
        for (; table_[place] >= 0; place = after(place)) room_.look(1);
        if (table_[place] == none) ++taken_;
        table_[place] = slot;
        (*this)[slot].next = static_cast<std::int32_t>(place);
    }
    // Makes room, or clears away what is gone.
    void rebuild() {
        const std::vector<std::int32_t> old = std::move(table_);
        room_.look(old.size());
        table_.assign(old.empty() ? 64 : (4 * in_table_ > old.size() ? 2 : 1) * old.size(), none);
        taken_ = 0;
        for (const std::int32_t slot : old)
            if (slot >= 0) put(slot);
    }

    Room& room_;
    std::size_t beside_B_;
    std::vector<std::int32_t> chains_;  // by box: the latest message
    // Slots grow without being copied: millions are in memory at once.
    std::vector<std::unique_ptr<Slot[]>> blocks_;
    std::size_t slot_count_ = 0;
    std::vector<std::int32_t> table_;
    std::int32_t free_ = none;
    std::size_t in_table_ = 0;
    std::size_t taken_ = 0;  // places of the table that are not empty
};

}  // namespace hockney
