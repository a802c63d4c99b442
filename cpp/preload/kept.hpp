// The schedules that a communicator keeps: those used last, of as many sizes and roots as it has places, and
// of no more memory than all communicators of the process have together. What is sent does not depend on it:
// a schedule that was dropped is made again.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "asked.hpp"
#include "prepared.hpp"

namespace hockney {

class Kept {
  public:
    struct Key {
        Bytes bytes = -1, elements = 0;
        std::uint64_t how = 0;   // root and element
        std::uint32_t what = 0;  // operation, in place, commutative
        bool operator==(const Key& o) const {
            return bytes == o.bytes && elements == o.elements && how == o.how && what == o.what;
        }
    };
    struct Slot {
        Key key;
        Why why = Why::served;
        std::unique_ptr<Prepared> prepared;

      private:
        friend class Kept;
        Bytes held_B = 0;
        std::uint64_t used = 0;  // as all communicators count
    };

    // Schedules that a communicator keeps.
    static constexpr std::size_t places = 512;

    // Schedules that this process dropped, of all communicators.
    static long dropped();

    Kept() = default;
    ~Kept();
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;

    // While it is held, no other thread drops what this one uses. To be held for all below.
    std::unique_lock<std::mutex> hold() { return std::unique_lock<std::mutex>(in_use_); }
    // nullptr where there is none.
    Slot* find(const Key& key);
    // A place for what is not there yet: a free one, or that of what was not used for longest.
    Slot& add(const Key& key);
    // What it has now counts, and others make room for it.
    void keep(Slot& slot);

    // What its schedules counted, those that it dropped too. Takes the lock itself.
    void add_to(Totals& totals);

  private:
    struct Hash {
        std::size_t operator()(const Key& key) const {
            std::uint64_t mixed = (static_cast<std::uint64_t>(key.bytes) + key.what) * 0x9E3779B97F4A7C15ULL;
            mixed = (mixed ^ (mixed >> 29) ^ key.how) * 0xBF58476D1CE4E5B9ULL;
            return mixed >> 32;
        }
    };

    // The least recently used one of all communicators but `but` of this one; false where there is none.
    bool drop_one(const Slot& but);
    void drop_oldest();

    std::mutex in_use_;
    std::list<Slot> slots_;  // the newest first
    std::unordered_map<Key, std::list<Slot>::iterator, Hash> places_;
    Totals forgotten_;
};

}  // namespace hockney
