#include "prepared.hpp"

#include "asked.hpp"

namespace hockney {

void Prepared::add_to(Totals& totals) const {
    totals[used].add(compared());
    if (by_library.calls != 0)
        totals[{used.operation, -1, reasons[static_cast<std::size_t>(Why::compared)]}].add(by_library);
}

Count Prepared::compared() const {
    Count made = count;
    if (count.calls != 0 && by_library.calls != 0) {
        made.compared_s = count.time_s;
        made.library_s =
            by_library.time_s / static_cast<double>(by_library.calls) * static_cast<double>(count.calls);
    }
    return made;
}

Bytes Prepared::held_B() const { return static_cast<Bytes>(sizeof(Prepared)) + program->held_B(); }

}  // namespace hockney
