// The schedules that a communicator keeps: those used last, of as many sizes and roots as it has places, and
// of no more memory than all communicators of the process have together. What is sent does not depend on it:
// a schedule that was dropped is made again.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

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
        std::uint64_t used = 0;          // as all communicators count
        int newer = none, older = none;  // in the order of their use
        int next = none;                 // of those that are searched together, or that are free
    };

    // Schedules that a communicator keeps.
    static constexpr int places = 512;

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
    static constexpr int none = -1;
    static constexpr std::size_t rows = 1024;

    static std::size_t row_of(const Key& key);
    // The least recently used one of all communicators but `but` of this one; false where there is none.
    bool drop_one(const Slot& but);
    int oldest_but(const Slot& but) const;
    void drop(int at);
    void put_first(int at);
    void take_out(int at);

    std::mutex in_use_;
    // Nothing before the first is added: most communicators have no rule.
    std::vector<Slot> slots_;
    std::vector<int> first_;  // of those that are searched together
    int free_ = none, newest_ = none, oldest_ = none;
    Totals forgotten_;
};

}  // namespace hockney
