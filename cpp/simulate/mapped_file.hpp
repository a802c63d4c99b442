// A file in memory, as it lies on the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hockney {

class MappedFile {
  public:
    // `at_once`: all of it is wanted, many times. WrittenWrong where there is nothing to read, with the hint.
    MappedFile(const std::string& path, const char* hint, bool at_once);
    MappedFile(MappedFile&& other) noexcept;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    MappedFile& operator=(MappedFile&&) = delete;
    ~MappedFile();
    const std::uint8_t* begin() const { return at_; }
    const std::uint8_t* end() const { return at_ + size_B_; }
    // The first bytes are not needed soon: they take no memory any more.
    void forget(std::size_t first_B) const;

  private:
    const std::uint8_t* at_ = nullptr;
    std::size_t size_B_ = 0;
};

}  // namespace hockney
