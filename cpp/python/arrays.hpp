// numpy arrays that Python gives and gets.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace hockney {

using Row = nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Table = nanobind::ndarray<const double, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using Answer = nanobind::ndarray<nanobind::numpy, double>;

// A copy, because the array remains the caller's, who may change it.
template <class Array>
std::vector<double> values(const Array& given) {
    return {given.data(), given.data() + given.size()};
}

inline Answer array(std::vector<double>&& values, std::vector<std::size_t> shape) {
    auto* owned = new std::vector<double>(std::move(values));
    const nanobind::capsule owner(
        owned, [](void* data) noexcept { delete static_cast<std::vector<double>*>(data); });
    return {owned->data(), shape.size(), shape.data(), owner};
}

}  // namespace hockney
