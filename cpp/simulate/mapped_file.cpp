#include "mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "../schedule/written.hpp"

namespace hockney {

MappedFile::MappedFile(const std::string& path, const char* hint, bool at_once) {
    const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK);  // a pipe would wait for a writer
    if (file < 0) throw WrittenWrong(path + " cannot be read\ncheck the name and its rights");
    struct stat status{};
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(file);
        throw WrittenWrong(path + " is no file\n" + hint);
    }
    size_B_ = static_cast<std::size_t>(status.st_size);
    const int flags = MAP_PRIVATE | (at_once ? MAP_POPULATE : 0);
    void* memory = size_B_ == 0 ? MAP_FAILED : mmap(nullptr, size_B_, PROT_READ, flags, file, 0);
    close(file);
    if (memory == MAP_FAILED) throw WrittenWrong(path + " is empty\n" + hint);
    at_ = static_cast<const std::uint8_t*>(memory);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : at_(std::exchange(other.at_, nullptr)), size_B_(other.size_B_) {}

MappedFile::~MappedFile() {
    if (at_ != nullptr) munmap(const_cast<std::uint8_t*>(at_), size_B_);
}

void MappedFile::forget(std::size_t first_B) const {
    madvise(const_cast<std::uint8_t*>(at_), first_B, MADV_DONTNEED);
}

}  // namespace hockney
