// The messages that are under way, found by who sends them to whom: a hash table with linear probing, so that
// a rank with very many messages costs no more for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace hockney {

struct MessageKey {
    std::int32_t box = 0, from = 0, tag = 0;  // box: whose it is; from: as seen from there
};
inline bool operator==(const MessageKey& a, const MessageKey& b) {
    return a.box == b.box && a.from == b.from && a.tag == b.tag;
}

class Messages {
  public:
    struct Slot {
        MessageKey key;
        std::uint32_t place;  // in the table; of a free slot, the next free one
        bool is_sent, is_posted;
        std::uint8_t uses;
    };

    Slot& operator[](std::int32_t slot) { return at(static_cast<std::size_t>(slot)); }

    // -1 for none.
    std::int32_t find(const MessageKey& key) const {
        if (table_.empty()) return none;
        for (std::size_t place = home_of(key);; place = next(place))
            if (table_[place] == none || is_at(place, key)) return table_[place];
    }

    // Found, or new: it goes when it has been used `uses` times.
    std::int32_t get(const MessageKey& key, std::uint8_t uses, bool& is_new) {
        if (2 * (taken_ + 1) > table_.size()) rebuild();
        std::size_t place = home_of(key), free_place = table_.size();
        for (; table_[place] != none; place = next(place)) {
            if (is_at(place, key)) return is_new = false, table_[place];
            if (table_[place] == gone && free_place == table_.size()) free_place = place;
        }
        if (free_place == table_.size()) {
            free_place = place;
            ++taken_;
        }
        is_new = true;
        std::int32_t slot = static_cast<std::int32_t>(slot_count_);
        if (free_ == none) {
            if (slot_count_++ % block == 0) blocks_.push_back(std::make_unique<Slot[]>(block));
        } else {
            slot = free_;
            free_ = static_cast<std::int32_t>((*this)[slot].place);
            --free_slots_;
        }
        (*this)[slot] = {key, static_cast<std::uint32_t>(free_place), false, false, uses};
        return table_[free_place] = slot;
    }

    void use(std::int32_t slot) {
        if (--(*this)[slot].uses > 0) return;
        table_[(*this)[slot].place] = gone;
        (*this)[slot].place = static_cast<std::uint32_t>(free_);
        free_ = slot;
        ++free_slots_;
    }

  private:
    static constexpr std::int32_t none = -1, gone = -2;
    static constexpr std::uint32_t row = 16;
    static constexpr std::size_t block = 4096;

    Slot& at(std::size_t slot) const { return blocks_[slot / block][slot % block]; }

    std::size_t next(std::size_t place) const { return (place + 1) & (table_.size() - 1); }
    bool is_at(std::size_t place, const MessageKey& key) const {
        return table_[place] >= 0 && at(static_cast<std::size_t>(table_[place])).key == key;
    }
    // Neighbouring ranks mostly hear of ranks at the same distance: such messages lie side by side, but in
    // short rows only, which linear probing leaves soon.
    std::size_t home_of(const MessageKey& key) const {
        const auto box = static_cast<std::uint32_t>(key.box);
        std::uint64_t hash = (box - static_cast<std::uint32_t>(key.from)) * 0x9E3779B97F4A7C15U;
        hash = (hash ^ (hash >> 32U) ^ static_cast<std::uint32_t>(key.tag)) * 0xD6E8FEB86659FD93U;
        hash = (hash ^ (hash >> 32U) ^ (box / row)) * 0xD6E8FEB86659FD93U;
        return ((hash >> 32U) * row + box % row) & (table_.size() - 1);
    }
    // Makes room, or clears away what is gone.
    void rebuild() {
        const std::size_t count = slot_count_ - free_slots_;
        const std::vector<std::int32_t> old = std::move(table_);
        table_.assign(old.empty() ? 64 : (4 * count > old.size() ? 2 : 1) * old.size(), none);
        for (const std::int32_t slot : old) {
            if (slot < 0) continue;
            std::size_t place = home_of((*this)[slot].key);
            while (table_[place] != none) place = next(place);
            table_[place] = slot;
            (*this)[slot].place = static_cast<std::uint32_t>(place);
        }
        taken_ = count;
    }

    // Slots grow without being copied: millions are in memory at once.
    std::vector<std::unique_ptr<Slot[]>> blocks_;
    std::size_t slot_count_ = 0;
    std::vector<std::int32_t> table_;
    std::int32_t free_ = none;
    std::size_t free_slots_ = 0;
    std::size_t taken_ = 0;  // places that are not empty
};

}  // namespace hockney
