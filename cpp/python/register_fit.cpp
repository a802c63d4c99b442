// Lines and regimes of timed messages. Arrays are copied before they are looked at: they are the caller's.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../fit/lines.hpp"
#include "../fit/regimes.hpp"
#include "arrays.hpp"
#include "register.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hockney {
namespace {

void expect_numbers(const std::vector<double>& size_B, const std::vector<double>& time_s) {
    for (std::size_t i = 0; i < size_B.size(); ++i) {
        if (!(size_B[i] >= 0) || std::isinf(size_B[i]))
            throw std::invalid_argument("sizes must be numbers of at least 0");
        if (!std::isfinite(time_s[i])) throw std::invalid_argument("times must be numbers");
    }
}

TimedSizes timed_sizes(const Row& size_B, const Row& time_s, const Row& noise,
                       std::optional<double> eager_limit_B, const std::vector<double>& breaks_B) {
    if (size_B.size() > most_points)
        throw std::invalid_argument("at most " + std::to_string(most_points) +
                                    " points are cut into regimes");
    if (noise.size() != size_B.size()) throw std::invalid_argument("there must be a noise for each size");
    if (size_B.size() == 0) throw std::invalid_argument("there must be a size");
    if (time_s.size() != size_B.size()) throw std::invalid_argument("there must be a time for each size");
    TimedSizes points{values(size_B), values(time_s), values(noise), eager_limit_B, breaks_B};
    expect_numbers(points.size_B, points.time_s);
    for (const double each_s : points.time_s)
        if (each_s <= 0) throw std::invalid_argument("times must be positive");
    for (std::size_t i = 1; i < points.count(); ++i)
        if (points.size_B[i] <= points.size_B[i - 1]) throw std::invalid_argument("sizes must increase");
    for (std::size_t i = 0; i < breaks_B.size(); ++i)
        if (!(breaks_B[i] >= (i > 0 ? breaks_B[i - 1] : 0)))
            throw std::invalid_argument(
                "further breaks must be numbers of at least 0, none below the one before");
    for (const double each : points.noise)
        if (!(each >= 0)) throw std::invalid_argument("noise must be a number of at least 0");
    return points;
}

// (first, last)
using Listed = std::tuple<std::size_t, std::size_t>;

// The stretches, which cover the curve in order.
std::vector<Stretch> covering(const std::vector<Listed>& listed, const Regimes& regimes) {
    std::vector<Stretch> stretches;
    std::size_t next = 0;
    for (const Listed& each : listed) {
        const auto& [first, last] = each;
        if (first != next || last < first || last >= regimes.points().count())
            throw std::invalid_argument("stretches must cover the curve in order");
        stretches.push_back({first, last});
        next = last + 1;
    }
    if (next != regimes.points().count())
        throw std::invalid_argument("stretches must cover the curve to its end");
    return stretches;
}

}  // namespace

void register_fit(nb::module_& module) {
    module.def(
        "nonnegative_lines",
        [](const Table& size_B, const Table& time_s) {
            const std::size_t curves = size_B.shape(0), count = size_B.shape(1);
            if (count == 0) throw std::invalid_argument("there must be a size");
            if (time_s.shape(0) != curves || time_s.shape(1) != count)
                throw std::invalid_argument("there must be a time for each size");
            const std::vector<double> sizes_B = values(size_B), times_s = values(time_s);
            expect_numbers(sizes_B, times_s);
            std::vector<double> alpha_s, beta_s_per_B;
            for (std::size_t first = 0; first < sizes_B.size(); first += count) {
                RelativeSums sums(sizes_B[first]);
                for (std::size_t i = first; i < first + count; ++i) sums.add(sizes_B[i], times_s[i], 1);
                const NonnegativeLine line = sums.line();
                alpha_s.push_back(line.alpha_s);
                beta_s_per_B.push_back(line.beta_s_per_B);
            }
            return std::make_tuple(array(std::move(alpha_s), {curves}),
                                   array(std::move(beta_s_per_B), {curves}));
        },
        "size_B"_a, "time_s"_a);

    nb::class_<Regimes> kind(module, "Regimes");
    kind.attr("MOST_POINTS") = most_points;
    kind.attr("LEAST_NOISE") = least_noise;
    kind.def(
            "__init__",
            [](Regimes* self, const Row& size_B, const Row& time_s, const Row& noise,
               std::optional<double> eager_limit_B, const std::vector<double>& breaks_B) {
                TimedSizes points = timed_sizes(size_B, time_s, noise, eager_limit_B, breaks_B);
                new (self) Regimes(std::move(points));
            },
            "size_B"_a, "time_s"_a, "noise"_a, "eager_limit_B"_a = nb::none(),
            "breaks_B"_a = std::vector<double>{})
        .def_prop_ro("best",
                     [](const Regimes& regimes) {
                         std::vector<std::tuple<std::size_t, std::size_t>> best;
                         for (const Stretch& stretch : regimes.best())
                             best.emplace_back(stretch.first, stretch.last);
                         return best;
                     })
        .def(
            "pieces",
            [](const Regimes& regimes, const std::vector<Listed>& listed) {
                std::vector<std::tuple<std::size_t, std::size_t, double, double, double, std::optional<int>>>
                    pieces;
                for (const Piece& piece : regimes.pieces(covering(listed, regimes)))
                    pieces.emplace_back(piece.stretch.first, piece.stretch.last, piece.alpha_s,
                                        piece.beta_s_per_B, piece.upper_B,
                                        piece.aside < 0 ? std::nullopt : std::optional<int>(piece.aside));
                return pieces;
            },
            "stretches"_a)
        .def(
            "gain",
            [](const Regimes& regimes, std::size_t first, std::size_t last, std::size_t next_last) {
                if (first > last || last >= next_last || next_last >= regimes.points().count())
                    throw std::out_of_range("a break is after a point of the curve, and another follows");
                return regimes.gain(first, last, next_last);
            },
            "first"_a, "last"_a, "next_last"_a);
}

}  // namespace hockney
