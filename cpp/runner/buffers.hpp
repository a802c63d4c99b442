// Message buffers: cache-warm (one slot, used again and again) or off-cache (slots walked through a large
// region).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

namespace hockney {

// What MPI is told to move: counts are int, so messages of 2 GiB and more need a datatype of their own.
class Payload {
  public:
    explicit Payload(std::size_t bytes);
    ~Payload();
    Payload(const Payload&) = delete;
    Payload& operator=(const Payload&) = delete;

    std::size_t bytes() const { return bytes_; }
    int count() const { return count_; }
    MPI_Datatype type() const { return type_; }

  private:
    std::size_t bytes_;
    int count_;
    MPI_Datatype type_ = MPI_BYTE;
};

class Buffer {
  public:
    // `region_B`: bytes to walk through before a slot is used again; 0 for one slot. Throws std::bad_alloc.
    Buffer(std::size_t bytes, std::size_t region_B);

    // The buffer for the next message.
    std::byte* next() {
        std::byte* slot = memory_.get() + current_ * stride_;
        if (++current_ == slots_) current_ = 0;
        return slot;
    }
    // The buffer handed out by the latest next().
    std::byte* latest() { return memory_.get() + (current_ == 0 ? slots_ - 1 : current_ - 1) * stride_; }

    // Writes the pattern of (`writer`, `salt`) into every slot.
    void fill(int writer, int salt);
    // Overwrites every slot with bytes that differ from any pattern of `writer` and `salt`.
    void poison(int writer, int salt);
    // Whether the latest slot holds exactly the pattern.
    bool holds(int writer, int salt);

    static std::size_t total_B(std::size_t bytes, std::size_t region_B);

  private:
    void repeat_first_slot();

    std::size_t bytes_, stride_, slots_, current_ = 0;
    std::unique_ptr<std::byte[]> memory_;
};

}  // namespace hockney
