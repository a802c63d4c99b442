// Sweeps and copies on memory that ends with the last double, so that a sanitizer sees every step beyond it.
// Prints `same` where each kernel agrees with the plainest one, to the last bit.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "apps/jacobi/kernel.hpp"

using namespace hockney;

namespace {

struct Free {
    void operator()(double* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<double, Free>;

Memory filled(const Layout& layout) {
    Memory memory(static_cast<double*>(std::aligned_alloc(64, static_cast<std::size_t>(layout.size) * 8)));
    for (long n = 0; n < layout.size; ++n) memory.get()[n] = static_cast<double>(n % 97) / 7;
    return memory;
}

Traversal asked(const Layout& layout, const std::string& instructions, const std::string& stores, long rows,
                std::string& refused) {
    const Request request("app instructions=" + instructions + " stores=" + stores +
                          " threads=1 block_rows=" + std::to_string(rows));
    return traversal_of(request, layout, {4096, 16384}, refused);
}

bool is_same(const Cells& cells, const std::string& instructions, const std::string& stores, long rows) {
    const Layout layout(cells);
    std::string refused;
    const Traversal how = asked(layout, instructions, stores, rows, refused);
    if (!refused.empty()) return true;
    const Memory from = filled(layout), to = filled(layout), plain = filled(layout);
    sweep(how, layout, to.get(), from.get(), {{0, 0, 0}, cells});
    sweep(asked(layout, "portable", "regular", 0, refused), layout, plain.get(), from.get(),
          {{0, 0, 0}, cells});
    for (long z = 0; z < cells[2]; ++z)
        for (long y = 0; y < cells[1]; ++y)
            if (std::memcmp(to.get() + layout.at(0, y, z), plain.get() + layout.at(0, y, z),
                            static_cast<std::size_t>(cells[0]) * 8) != 0)
                return false;
    stream(how, layout, to.get(), from.get());
    return std::memcmp(to.get() + Layout::line, from.get() + Layout::line,
                       static_cast<std::size_t>(layout.size - Layout::line) * 8) == 0;
}

}  // namespace

int main() {
    for (long x = 1; x < 20; ++x)
        for (const Cells& cells : {Cells{x, 1, 1}, Cells{x, 5, 9}, Cells{230 + x, 7, 5}})
            for (const char* instructions : {"avx512", "avx2", "portable"})
                for (const char* stores : {"regular", "non_temporal"})
                    for (const long rows : {0L, 2L})
                        if (!is_same(cells, instructions, stores, rows)) {
                            std::printf("%ld cells, %s, %s, blocks of %ld\n", x, instructions, stores, rows);
                            return 1;
                        }
    std::puts("same");
}
