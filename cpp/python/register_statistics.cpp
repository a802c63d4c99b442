// The runner's statistics, so that what Python says of samples it chose is what the runner would say of them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <vector>

#include "register.hpp"
#include "runner/statistics.hpp"

namespace hockney {

void register_statistics(nanobind::module_& module) {
    module.def(
        "median_interval",
        [](const std::vector<double>& values_s) {
            if (values_s.empty()) throw nanobind::value_error("no values");
            const MedianInterval interval = median_interval(values_s);
            return std::make_tuple(interval.median_s, interval.low_s, interval.high_s);
        },
        nanobind::arg("values_s"));
}

}  // namespace hockney
