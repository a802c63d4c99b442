// Whether what the runner writes and checks byte stretch by byte stretch is what the definition of each
// collective says byte by byte: prints how many cases there were, and how many were judged wrongly.
#include "collective/contents.hpp"

#include <cstring>
#include <iostream>
#include <vector>

using namespace hockney;

namespace {

constexpr int salt = 7;
constexpr Bytes size_B = sizeof(float), margin_B = 64;

std::vector<std::byte> memory(Bytes size) {
    return std::vector<std::byte>(static_cast<std::size_t>(size + margin_B));
}

// What each rank sends.
std::vector<std::vector<std::byte>> sent(const Collective& collective, const Problem& p) {
    std::vector<std::vector<std::byte>> inputs;
    for (int rank = 0; rank < p.ranks; ++rank) {
        std::vector<std::byte> input = memory(collective.input_B(p, rank));
        std::vector<std::byte> output = memory(collective.output_B(p, rank));
        fill_input(collective, p, rank, salt, input.data(), output.data());
        inputs.push_back(collective.sends_output(p, rank) ? output : input);
    }
    return inputs;
}

// What a rank is to get, from the origin of each byte.
std::vector<std::byte> expected(const Collective& collective, const Problem& p, int rank) {
    const auto inputs = sent(collective, p);
    std::vector<std::byte> output = memory(collective.output_B(p, rank));
    for (Bytes at = 0; at < collective.output_B(p, rank); at += collective.reduces ? size_B : 1) {
        const Origin origin = collective.origin(p, rank, at);
        std::byte* to = output.data() + at;
        if (!collective.reduces) {
            *to = inputs[static_cast<std::size_t>(origin.rank)][static_cast<std::size_t>(origin.index)];
            continue;
        }
        float sum = 0;
        for (const auto& input : inputs) {
            float number = 0;
            std::memcpy(&number, input.data() + origin.index, sizeof number);
            sum += number;
        }
        std::memcpy(to, &sum, sizeof sum);
    }
    return output;
}

}  // namespace

int main() {
    long cases = 0, refused = 0, accepted = 0;
    for (const char* name :
         {"bcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter", "reduce_scatter"}) {
        const Collective& collective = *find_collective(name);
        for (Problem p = {}; p.ranks < 5;) {
            ++p.ranks;
            p.root = p.ranks - 1;
            for (const Bytes bytes : {4, 8, 20, 1000, 1024, 1028, 2052, 28000}) {
                p.bytes = bytes;
                for (int rank = 0; rank < p.ranks; ++rank) {
                    const Bytes output_B = collective.output_B(p, rank);
                    if (output_B == 0) continue;
                    ++cases;
                    std::vector<std::byte> output = expected(collective, p, rank);
                    if (!holds_result(collective, p, rank, salt, output.data())) ++refused;
                    for (const Bytes at : {Bytes{0}, output_B / 2, output_B - 1}) {
                        std::byte& one = output[static_cast<std::size_t>(at)];
                        one ^= std::byte{1};
                        if (holds_result(collective, p, rank, salt, output.data())) ++accepted;
                        one ^= std::byte{1};
                    }
                    if (collective.sends_output(p, rank)) continue;
                    poison_output(collective, p, rank, salt, output.data());
                    if (holds_result(collective, p, rank, salt, output.data())) ++accepted;
                }
            }
        }
    }
    std::cout << cases << ' ' << refused << ' ' << accepted << '\n';
    return 0;
}
