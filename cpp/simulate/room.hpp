// What a simulation takes: memory, of which there is a bound, and places that it looks at. Both are counted
// where they may grow with what is simulated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "../schedule/schedule.hpp"

namespace hockney {

class Room {
  public:
    explicit Room(Bytes most_B) : most_B_(static_cast<std::size_t>(most_B)) {}
    // A part of another: what it takes is free again when it ends.
    explicit Room(Room* whole) : most_B_(whole->most_B_), whole_(whole) {}
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    ~Room() {
        if (whole_ == nullptr) return;
        whole_->taken_B_ -= taken_B_;
        whole_->looked_ += looked_;
    }

    // A place is an entry of a list or table that is read, moved or passed over.
    void look(std::size_t places) { looked_ += places; }
    std::size_t looked() const { return looked_; }

    // Throws TooLarge where so many more, each of `size_B`, are more than there may be.
    void take(std::size_t count, std::size_t size_B) {
        if (whole_ != nullptr) {
            whole_->take(count, size_B);
        } else if (count > (most_B_ - taken_B_) / size_B) {
            throw TooLarge("the simulation takes more than the " + std::to_string(most_B_) +
                           " B of memory that it may");
        }
        taken_B_ += count * size_B;
    }
    void give(std::size_t count, std::size_t size_B) {
        if (whole_ != nullptr) whole_->give(count, size_B);
        taken_B_ -= count * size_B;
    }

    // The vector's own, which doubles its memory where it moves.
    template <class Value>
    void resize(std::vector<Value>& values, std::size_t size, const Value& value = {}) {
        reserve(values, size);
        values.resize(size, value);
    }
    // Until it has this place; those behind it are made together.
    template <class Value>
    void reach(std::vector<Value>& values, std::size_t place) {
        if (place >= values.size()) resize(values, std::max(place + 1, 2 * values.size()));
    }
    // Before so many more are added.
    template <class Value>
    void reserve_next(std::vector<Value>& values, std::size_t count = 1) {
        reserve(values, values.size() + count);
    }

  private:
    template <class Value>
    void reserve(std::vector<Value>& values, std::size_t size) {
        const std::size_t before = values.capacity();
        if (size <= before) return;
        const std::size_t after = std::max(size, 2 * before);
        take(after - before, sizeof(Value));
        values.reserve(after);
    }

    std::size_t most_B_, taken_B_ = 0, looked_ = 0;
    Room* whole_ = nullptr;
};

}  // namespace hockney
