#include "trace_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "trace.hpp"

namespace hockney::trace {
namespace {

constexpr std::uint64_t window_B = 1 << 20;

std::uint64_t page_B() {
    static const auto size_B = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return size_B;
}

unsigned char* mapped(int file, std::uint64_t begin, std::uint64_t size_B) {
    const int how = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void* const at =
        mmap(nullptr, size_B, PROT_READ | PROT_WRITE, how, file, static_cast<off_t>(file < 0 ? 0 : begin));
    if (at == MAP_FAILED) return nullptr;
    // Pages come now, whose time is known, and not one by one between calls. Kernels before 5.14 do not.
#ifdef MADV_POPULATE_WRITE
    madvise(at, size_B, MADV_POPULATE_WRITE);
#endif
    return static_cast<unsigned char*>(at);
}

}  // namespace

File::File(const std::string& path, std::uint64_t limit_B, const Header& header) : limit_B_(limit_B) {
    if (!path.empty()) {
        // Not what another process may still have mapped.
        unlink(path.c_str());
        file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        const int code = file_ < 0 ? errno : posix_fallocate(file_, 0, static_cast<off_t>(page_B()));
        if (code != 0) {
            lack_ = std::strerror(code);
            return;
        }
    }
    unsigned char* const first = mapped(file_, 0, page_B());
    if (first == nullptr) {
        lack_ = std::strerror(errno);
        return;
    }
    header_ = reinterpret_cast<Header*>(first);
    *header_ = header;
    window_ = first;
    at_ = first + header_B;
    end_ = first + std::min(page_B(), std::max<std::uint64_t>(limit_B_, header_B + last_B));
}

void File::unmap() {
    if (window_ == nullptr || window_ == reinterpret_cast<unsigned char*>(header_)) return;
    munmap(window_, static_cast<std::size_t>(end_ - window_));
}

bool File::grow(std::size_t record_B) {
    const Once once;
    const std::uint64_t next = window_begin_ + static_cast<std::uint64_t>(at_ - window_);
    const std::uint64_t begin = next / page_B() * page_B();
    std::uint64_t size_B = std::max<std::uint64_t>(window_B, next - begin + record_B + last_B);
    if (file_ >= 0) {
        if (next + record_B + last_B > limit_B_) return false;
        size_B = std::min(size_B, limit_B_ - begin);
        // Where the disk is full, this says it: writing there would end the program.
        if (posix_fallocate(file_, static_cast<off_t>(begin), static_cast<off_t>(size_B)) != 0) return false;
    }
    unsigned char* const window = mapped(file_, begin, size_B);
    if (window == nullptr) return false;
    unmap();
    window_begin_ = begin;
    window_ = window;
    at_ = window + (next - begin);
    end_ = window + size_B;
    return true;
}

File::~File() {
    const std::uint64_t used_B = window_begin_ + static_cast<std::uint64_t>(at_ - window_);
    unmap();
    if (header_ != nullptr) munmap(header_, page_B());
    if (file_ < 0) return;
    if (lack_.empty() && ftruncate(file_, static_cast<off_t>(used_B)) != 0) lack_ = std::strerror(errno);
    close(file_);
}

}  // namespace hockney::trace
