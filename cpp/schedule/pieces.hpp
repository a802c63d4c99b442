// How a vector is cut: into a given number of blocks, or into segments of a given size; never inside an
// element.
#pragma once

#include <algorithm>

#include "schedule.hpp"

namespace hockney {

// A part of a vector, wherever it lies.
struct Span {
    Bytes offset_B, length_B;
};

class Pieces {
  public:
    // `count` blocks whose sizes differ by one element at most, the larger ones first; some may be empty.
    static Pieces blocks(Bytes total_B, int count, Bytes element_B) {
        const Bytes elements = total_B / element_B;
        return {total_B, count, elements / count * element_B, elements % count, element_B};
    }
    // Segments of `segment_B` (rounded down to whole elements), the last one maybe shorter; one where
    // segment_B is 0. An empty vector is one empty segment. `refusal` sees to it that the count is an int.
    static Pieces segments(Bytes total_B, Bytes segment_B, Bytes element_B) {
        const Bytes size_B = segment_B == 0 ? std::max<Bytes>(total_B, 1) : segment_B / element_B * element_B;
        const Bytes count = total_B == 0 ? 1 : (total_B - 1) / size_B + 1;
        return {total_B, static_cast<int>(count), size_B, 0, 0};
    }

    // `count` blocks of `size_B` each.
    static Pieces equal(int count, Bytes size_B) { return {count * size_B, count, size_B, 0, 0}; }

    int count() const { return count_; }
    Bytes offset_B(int piece) const {
        return std::min(total_B_, piece * size_B_ + std::min<Bytes>(piece, larger_) * element_B_);
    }
    Bytes length_B(int piece) const { return span_B(piece, piece + 1); }
    // Of the pieces from `first` to before `last`.
    Bytes span_B(int first, int last) const { return offset_B(last) - offset_B(first); }
    Span span(int first, int last) const { return {offset_B(first), span_B(first, last)}; }
    // The piece of a region that begins where the vector begins.
    Region of(const Region& vector, int piece) const { return of(vector, piece, piece + 1); }
    Region of(const Region& vector, int first, int last) const {
        return part(vector, offset_B(first), span_B(first, last));
    }

  private:
    Pieces(Bytes total_B, int count, Bytes size_B, Bytes larger, Bytes element_B)
        : total_B_(total_B), count_(count), size_B_(size_B), larger_(larger), element_B_(element_B) {}

    Bytes total_B_;
    int count_;
    Bytes size_B_, larger_, element_B_;
};

}  // namespace hockney
