// Memory for the time of a call: what is lent to one is lent to the next, whatever communicator that is on.
#pragma once

#include <cstddef>
#include <memory>

#include "../schedule/schedule.hpp"

namespace hockney {

class Room {
  public:
    // Nothing for 0. std::bad_alloc.
    explicit Room(Bytes size_B);
    ~Room();
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;

    // What a part of so many bytes takes of it.
    static constexpr Bytes rounded_B(Bytes part_B) { return (part_B + apart_B - 1) / apart_B * apart_B; }
    // The next part of it.
    std::byte* part(Bytes part_B);

    // Given back by calls that are over. It is nobody's when the layer ends.
    struct Memory {
        std::unique_ptr<std::byte[]> bytes;
        Bytes size_B = 0;
    };

  private:
    static constexpr Bytes apart_B = 64;  // a line of the cache, and what any datatype wants

    Memory memory_;
    Bytes taken_B_ = 0;
};

}  // namespace hockney
