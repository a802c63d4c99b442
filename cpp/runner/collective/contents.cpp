// Reductions add up floats that are small whole numbers: every order of addition gives the same, exact sum.
// Other collectives move bytes that tell their origin.
#include "contents.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace hockney {
namespace {

// Sums of 1023 · ranks stay below 2^24, up to which floats are exact, for 16,000 ranks.
constexpr int distinct_ranks = 512;
constexpr int distinct_indices = 509;
constexpr Bytes size_B = sizeof(float);

float number(int rank, Bytes index, int salt) {
    return static_cast<float>(rank % distinct_ranks + (index * 7 + salt) % distinct_indices);
}

float sum_of_numbers(int ranks, Bytes index, int salt) {
    const long whole = ranks / distinct_ranks, rest = ranks % distinct_ranks;
    const long of_ranks = whole * (distinct_ranks * (distinct_ranks - 1L) / 2) + rest * (rest - 1) / 2;
    return static_cast<float>(of_ranks + ranks * static_cast<long>((index * 7 + salt) % distinct_indices));
}

// Eight of the bytes that a rank sends.
std::uint64_t mixed(int rank, Bytes eighth, int salt) {
    std::uint64_t word = static_cast<std::uint64_t>(eighth + 1) * 0x9E3779B97F4A7C15ULL;
    word += static_cast<std::uint64_t>(rank * 131 + salt * 17) * 0xD1B54A32D192ED03ULL;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ULL;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBULL;
    return word ^ (word >> 31);
}

// The bytes from `index` on that a rank sends.
void write_letters(int rank, Bytes index, int salt, std::byte* to, Bytes count) {
    constexpr Bytes word_B = sizeof(std::uint64_t);
    for (Bytes done = 0; done < count;) {
        const Bytes skipped = (index + done) % word_B, here = std::min(word_B - skipped, count - done);
        const std::uint64_t word = mixed(rank, (index + done) / word_B, salt);
        std::byte bytes[word_B];
        std::memcpy(bytes, &word, word_B);
        if (here == word_B)
            std::memcpy(to + done, bytes, word_B);
        else
            std::memcpy(to + done, bytes + skipped, static_cast<std::size_t>(here));
        done += here;
    }
}

// Writes `count` numbers, value(0), value(1), ….
template <typename Value>
void write_numbers(std::byte* to, Bytes count, Value value) {
    for (Bytes e = 0; e < count; ++e) {
        const float number = value(e);
        std::memcpy(to + e * size_B, &number, sizeof number);
    }
}

// Calls visit(at, expected, count) for one stretch of a rank's output after the other: what is to be there.
// Each comes from one stretch of a rank's input: blocks lie in one piece, so where the last byte comes from
// as far behind the first as it lies, so do those between. Asking for the origin of each byte took most of
// the time of a large point.
template <typename Visit>
void each_stretch(const Collective& collective, const Problem& p, int rank, int salt, Visit visit) {
    const Bytes element_B = collective.reduces ? size_B : 1;
    const Bytes output_B = collective.output_B(p, rank) / element_B * element_B;
    std::byte expected[1024];
    for (Bytes at = 0, count = 0; at < output_B; at += count) {
        const Origin origin = collective.origin(p, rank, at);
        count = std::min(static_cast<Bytes>(sizeof expected), output_B - at);
        const Origin last = collective.origin(p, rank, at + count - 1);
        if (last.rank != origin.rank || last.index != origin.index + count - 1) count = element_B;
        if (collective.reduces)
            write_numbers(expected, count / size_B,
                          [&](Bytes e) { return sum_of_numbers(p.ranks, origin.index / size_B + e, salt); });
        else
            write_letters(origin.rank, origin.index, salt, expected, count);
        visit(at, expected, count);
    }
}

}  // namespace

void fill_input(const Collective& collective, const Problem& p, int rank, int salt, std::byte* input,
                std::byte* output) {
    const Bytes input_B = collective.input_B(p, rank);
    if (collective.reduces)
        write_numbers(input, input_B / size_B, [&](Bytes e) { return number(rank, e, salt); });
    else
        write_letters(rank, 0, salt, input, input_B);
    if (collective.sends_output(p, rank)) write_letters(rank, 0, salt, output, p.bytes);
}

void poison_output(const Collective& collective, const Problem& p, int rank, int salt, std::byte* output) {
    if (collective.sends_output(p, rank)) return;
    each_stretch(collective, p, rank, salt, [&](Bytes at, const std::byte* expected, Bytes count) {
        // No number is what its inverted bits are, and no byte.
        for (Bytes i = 0; i < count; ++i) output[at + i] = ~expected[i];
    });
}

bool holds_result(const Collective& collective, const Problem& p, int rank, int salt,
                  const std::byte* output) {
    bool right = true;
    each_stretch(collective, p, rank, salt, [&](Bytes at, const std::byte* expected, Bytes count) {
        right = std::memcmp(output + at, expected, static_cast<std::size_t>(count)) == 0 && right;
    });
    return right;
}

}  // namespace hockney
