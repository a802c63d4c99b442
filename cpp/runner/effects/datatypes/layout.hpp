// Where the bytes of a message lie: blocks in a region of memory, as a list and as an MPI datatype.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "../../request.hpp"

namespace hockney::effect_datatypes {

class Layout {
  public:
    // From the keys `layout` (contiguous, vector, indexed, irregular, face_x, face_y, face_z) and, of a face,
    // `side` (elements of 8 B along each edge of a block of which x is fastest), of the others `blocks`,
    // `block_B` and `stride_B` (from the start of a block to that of the next). `irregular` puts each block
    // at a random place of its stride; the places follow from `seed`. BadRequest where blocks would overlap.
    explicit Layout(const Request& request);
    ~Layout();
    Layout(const Layout&) = delete;
    Layout& operator=(const Layout&) = delete;

    long bytes() const { return blocks_ * block_B_; }
    long blocks() const { return blocks_; }
    long extent_B() const { return extent_B_; }
    // Cache lines of 64 B that the blocks touch in memory that begins with a line, each counted once.
    long lines() const { return lines_; }
    // Pairs of a block and a line that it touches: what a copy, block by block, asks of memory.
    long accesses() const { return accesses_; }

    // One element of type() is the layout; elements() of element() are the same data, contiguous.
    MPI_Datatype type() const { return type_; }
    MPI_Datatype element() const { return element_; }
    int elements() const { return static_cast<int>(bytes() / element_B_); }

    // The loops that an application would write: blocks of 1, 2, 4 and 8 B are one load and one store each,
    // longer ones a memcpy; a list of offsets only where no stride describes them.
    void gather(const std::byte* from, std::byte* to) const;
    void scatter(const std::byte* from, std::byte* to) const;

  private:
    bool has_stride() const { return offsets_.empty(); }
    long offset(long block) const {
        return has_stride() ? block * stride_B_ : offsets_[static_cast<std::size_t>(block)];
    }
    template <class Copy>
    void each_block(const Copy& copy) const;
    void describe_face(const std::string& name, long side);
    void count_lines();

    long blocks_ = 0, block_B_ = 0, stride_B_ = 0, extent_B_ = 0;
    long lines_ = 0, accesses_ = 0;
    std::vector<long> offsets_;
    int element_B_ = 1;
    MPI_Datatype element_ = MPI_CHAR, type_ = MPI_DATATYPE_NULL;
};

}  // namespace hockney::effect_datatypes
