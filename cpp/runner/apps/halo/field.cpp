#include "field.hpp"

#include <sys/mman.h>

#include <new>

namespace hockney {
namespace {

constexpr std::size_t small_page_B = 4096, large_page_B = 2 * 1024 * 1024;

long rounded_up(long number, long to) { return (number + to - 1) / to * to; }

}  // namespace

Layout::Layout(const Cells& cells_)
    : cells(cells_),
      pitch(rounded_up(cells[0] + 2, line)),
      plane(pitch * (cells[1] + 2)),
      size(line + plane * (cells[2] + 2)) {}

double Layout::bytes_for(const Cells& cells) {
    return 8.0 * static_cast<double>(line + rounded_up(cells[0] + 2, line)) *
           static_cast<double>(cells[1] + 2) * static_cast<double>(cells[2] + 2);
}

Field::Field(long size) {
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(double);
    const std::size_t page_B = bytes < large_page_B ? small_page_B : large_page_B;
    const std::size_t whole_B = (bytes + page_B - 1) / page_B * page_B;
    cells_.reset(static_cast<double*>(std::aligned_alloc(page_B, whole_B)));
    if (!cells_) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (page_B == large_page_B) madvise(cells_.get(), whole_B, MADV_HUGEPAGE);
#endif
}

}  // namespace hockney
