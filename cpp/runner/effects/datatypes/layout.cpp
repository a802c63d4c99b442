// Layouts as lists of blocks and as MPI datatypes.
#include "layout.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>

namespace hockney::effect_datatypes {
namespace {

constexpr long line_B = 64;
constexpr long most_B = 1L << 30;  // counts of MPI are int

// A copy whose length the compiler knows.
template <std::size_t bytes>
struct Fixed {
    void operator()(std::byte* to, const std::byte* from) const { std::memcpy(to, from, bytes); }
};

}  // namespace

Layout::Layout(const Request& request) {
    request.choice("layout", {"contiguous", "vector", "indexed", "irregular", "face_x", "face_y", "face_z"});
    const std::string& name = request.text("layout");
    if (name.rfind("face_", 0) == 0) {
        describe_face(name, request.whole("side", 1, 500));
    } else {
        blocks_ = request.whole("blocks", 1);
        block_B_ = request.whole("block_B", 1);
        stride_B_ = request.whole("stride_B", block_B_);
        if (stride_B_ > most_B / blocks_) throw BadRequest("the layout must not span more than 1 GiB");
        const auto count = static_cast<int>(blocks_), length = static_cast<int>(block_B_);
        if (name == "contiguous") {
            stride_B_ = block_B_;
            MPI_Type_contiguous(static_cast<int>(bytes()), MPI_CHAR, &type_);
        } else if (name == "vector") {
            MPI_Type_vector(count, length, static_cast<int>(stride_B_), MPI_CHAR, &type_);
        } else {
            std::mt19937_64 random(static_cast<std::uint64_t>(request.whole("seed")));
            std::uniform_int_distribution<long> place(0, name == "indexed" ? 0 : stride_B_ - block_B_);
            std::vector<int> starts, lengths(static_cast<std::size_t>(blocks_), length);
            for (long block = 0; block < blocks_; ++block) {
                offsets_.push_back(block * stride_B_ + place(random));
                starts.push_back(static_cast<int>(offsets_.back()));
            }
            MPI_Type_indexed(count, lengths.data(), starts.data(), MPI_CHAR, &type_);
        }
        extent_B_ = offset(blocks_ - 1) + block_B_;
    }
    MPI_Type_commit(&type_);
    count_lines();
}

Layout::~Layout() { MPI_Type_free(&type_); }

void Layout::describe_face(const std::string& name, long side) {
    constexpr long double_B = 8;
    element_ = MPI_DOUBLE;
    element_B_ = static_cast<int>(double_B);
    const auto n = static_cast<int>(side);
    const int sizes[3] = {n, n, n}, starts[3] = {0, 0, 0};
    int part[3] = {n, n, n};  // z, y, x: the last is fastest
    if (name == "face_x") {
        part[2] = 1;
        blocks_ = side * side, block_B_ = double_B, stride_B_ = double_B * side;
    } else if (name == "face_y") {
        part[1] = 1;
        blocks_ = side, block_B_ = double_B * side, stride_B_ = double_B * side * side;
    } else {
        part[0] = 1;
        blocks_ = 1, block_B_ = double_B * side * side, stride_B_ = block_B_;
    }
    // The type's extent is that of the whole block; what it touches ends with its last block.
    extent_B_ = (blocks_ - 1) * stride_B_ + block_B_;
    MPI_Type_create_subarray(3, sizes, part, starts, MPI_ORDER_C, MPI_DOUBLE, &type_);
}

void Layout::count_lines() {
    long next = 0;  // the first line that no block has touched yet
    for (long block = 0; block < blocks_; ++block) {
        const long first = offset(block) / line_B, end = (offset(block) + block_B_ - 1) / line_B + 1;
        accesses_ += end - first;
        lines_ += std::max(0L, end - std::max(first, next));
        next = std::max(next, end);
    }
}

template <class Copy>
void Layout::each_block(const Copy& copy) const {
    if (has_stride())
        for (long block = 0; block < blocks_; ++block) copy(block * stride_B_, block);
    else
        for (long block = 0; block < blocks_; ++block) copy(offsets_[static_cast<std::size_t>(block)], block);
}

namespace {

// Calls `with` with the copy of this many bytes.
template <class With>
void with_copy(long bytes, const With& with) {
    const auto length = static_cast<std::size_t>(bytes);
    if (bytes == 1)
        with(Fixed<1>());
    else if (bytes == 2)
        with(Fixed<2>());
    else if (bytes == 4)
        with(Fixed<4>());
    else if (bytes == 8)
        with(Fixed<8>());
    else
        with([length](std::byte* to, const std::byte* from) { std::memcpy(to, from, length); });
}

}  // namespace

void Layout::gather(const std::byte* from, std::byte* to) const {
    with_copy(block_B_, [&](const auto& copy) {
        each_block([&](long offset, long block) { copy(to + block * block_B_, from + offset); });
    });
}

void Layout::scatter(const std::byte* from, std::byte* to) const {
    with_copy(block_B_, [&](const auto& copy) {
        each_block([&](long offset, long block) { copy(to + offset, from + block * block_B_); });
    });
}

}  // namespace hockney::effect_datatypes
