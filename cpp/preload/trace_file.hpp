// The file of a rank's trace, which grows by windows that are mapped: what was written there is the kernel's,
// whatever becomes of the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "format.hpp"

namespace hockney::trace {

class File {
  public:
    // Of at most so many bytes. Nothing is kept where there is no path: each window takes the place of the
    // one before.
    File(const std::string& path, std::uint64_t limit_B, const Header& header);
    // Cuts what was not written.
    ~File();
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    // Empty unless the file could not be written.
    const std::string& lack() const { return lack_; }
    Header& header() { return *header_; }

    // Where a record of at most so many bytes may be written; nullptr where there is no room, but for one of
    // `last_B`.
    unsigned char* room(std::size_t record_B) {
        if (static_cast<std::size_t>(end_ - at_) < record_B + last_B && !grow(record_B)) return nullptr;
        return at_;
    }
    // That one.
    unsigned char* last_room() { return at_; }
    // The record that ends there counts from now on: of a process that is killed now, all of it or nothing.
    void commit(Kind kind, const unsigned char* end) {
        __atomic_store_n(at_, static_cast<unsigned char>(kind), __ATOMIC_RELEASE);
        at_ += end - at_;
        if (kind >= first_event) ++header_->events;
    }

    static constexpr std::size_t last_B = 512;

  private:
    // The window in which the next record has room. False where that would be more than the limit, or the
    // disk is full.
    bool grow(std::size_t record_B);
    void unmap();

    std::string lack_;
    int file_ = -1;
    std::uint64_t limit_B_ = 0;
    std::uint64_t window_begin_ = 0;  // in the file
    unsigned char *window_ = nullptr, *at_ = nullptr, *end_ = nullptr;
    Header* header_ = nullptr;
};

}  // namespace hockney::trace
