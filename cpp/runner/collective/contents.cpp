// Reductions add up floats that are small whole numbers: every order of addition gives the same, exact sum.
// Other collectives move bytes that tell their origin.
#include "contents.hpp"

#include <cstdint>
#include <cstring>

namespace hockney {
namespace {

// Sums of 1023 · ranks stay below 2^24, up to which floats are exact, for 16,000 ranks.
constexpr int distinct_ranks = 512;
constexpr int distinct_indices = 509;

float number(int rank, Bytes index, int salt) {
    return static_cast<float>(rank % distinct_ranks + (index * 7 + salt) % distinct_indices);
}

float sum_of_numbers(int ranks, Bytes index, int salt) {
    const long whole = ranks / distinct_ranks, rest = ranks % distinct_ranks;
    const long of_ranks = whole * (distinct_ranks * (distinct_ranks - 1L) / 2) + rest * (rest - 1) / 2;
    return static_cast<float>(of_ranks + ranks * static_cast<long>((index * 7 + salt) % distinct_indices));
}

std::byte letter(int rank, Bytes index, int salt) {
    std::uint64_t mixed = static_cast<std::uint64_t>(index + 1) * 0x9E3779B97F4A7C15ULL;
    mixed += static_cast<std::uint64_t>(rank * 131 + salt * 17) * 0xD1B54A32D192ED03ULL;
    mixed ^= mixed >> 29;
    return static_cast<std::byte>((mixed * 0xBF58476D1CE4E5B9ULL) >> 56);
}

void put(std::byte* memory, Bytes element, float value) {
    std::memcpy(memory + element * static_cast<Bytes>(sizeof value), &value, sizeof value);
}

// Calls visit(element, expected) for each number of a reduction's result.
template <typename Visit>
void each_sum(const Collective& collective, const Problem& p, int rank, int salt, Visit visit) {
    constexpr Bytes size_B = sizeof(float);
    for (Bytes e = 0; e < collective.output_B(p, rank) / size_B; ++e)
        visit(e, sum_of_numbers(p.ranks, collective.origin(p, rank, e * size_B).index / size_B, salt));
}

template <typename Visit>
void each_letter(const Collective& collective, const Problem& p, int rank, int salt, Visit visit) {
    for (Bytes i = 0; i < collective.output_B(p, rank); ++i) {
        const Origin origin = collective.origin(p, rank, i);
        visit(i, letter(origin.rank, origin.index, salt));
    }
}

}  // namespace

void fill_input(const Collective& collective, const Problem& p, int rank, int salt, std::byte* input,
                std::byte* output) {
    const Bytes input_B = collective.input_B(p, rank);
    if (collective.reduces) {
        for (Bytes e = 0; e < input_B / static_cast<Bytes>(sizeof(float)); ++e)
            put(input, e, number(rank, e, salt));
    } else {
        for (Bytes i = 0; i < input_B; ++i) input[i] = letter(rank, i, salt);
    }
    if (collective.sends_output(p, rank))
        for (Bytes i = 0; i < p.bytes; ++i) output[i] = letter(rank, i, salt);
}

void poison_output(const Collective& collective, const Problem& p, int rank, int salt, std::byte* output) {
    if (collective.sends_output(p, rank)) return;
    if (collective.reduces)
        each_sum(collective, p, rank, salt, [&](Bytes e, float sum) { put(output, e, -1 - sum); });
    else
        each_letter(collective, p, rank, salt, [&](Bytes i, std::byte expected) { output[i] = ~expected; });
}

bool holds_result(const Collective& collective, const Problem& p, int rank, int salt,
                  const std::byte* output) {
    bool right = true;
    if (collective.reduces) {
        each_sum(collective, p, rank, salt, [&](Bytes e, float sum) {
            float value = 0;
            std::memcpy(&value, output + e * static_cast<Bytes>(sizeof value), sizeof value);
            if (value != sum) right = false;
        });
    } else {
        each_letter(collective, p, rank, salt, [&](Bytes i, std::byte expected) {
            if (output[i] != expected) right = false;
        });
    }
    return right;
}

}  // namespace hockney
