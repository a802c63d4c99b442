// The sweeps, written once for vectors of `lanes` doubles. Included by one file for each instruction set,
// after its `#pragma` and its definition of `lanes`; everything here is local to that file.

#include "sweep_rows.hpp"

namespace hockney::cg {
namespace {

template <int dimensions, bool is_streaming>
double apply_box(const Space& space, const Cuboid& box, const double* p, double* q) {
    Lanes sums = {};
    double rest = 0;
    for_blocked_rows(space, box, [&](long row, long n, long, long) {
        apply_row<dimensions, is_streaming>(p + row, q + row, n, space.pitch, space.plane, sums, rest);
    });
    return sum(sums) + rest;
}

double apply_dot(const Space& space, const Cuboid& box, const double* p, double* q, Stores stores) {
    const bool is_streaming = stores == Stores::streaming;
    double product = 0;
    if (space.dimensions == 2)
        product = is_streaming ? apply_box<2, true>(space, box, p, q) : apply_box<2, false>(space, box, p, q);
    else
        product = is_streaming ? apply_box<3, true>(space, box, p, q) : apply_box<3, false>(space, box, p, q);
    if (is_streaming) fence();
    return product;
}

double dot(const Space& space, const Cuboid& box, const double* a, const double* b) {
    Lanes sums = {}, more = {};
    double rest = 0;
    for_rows(space, box, [&](long row, long n, long, long) {
        long x = 0;
        for (; x + 2 * lanes <= n; x += 2 * lanes) {
            sums += load(a + row + x) * load(b + row + x);
            more += load(a + row + x + lanes) * load(b + row + x + lanes);
        }
        for (; x < n; ++x) rest += a[row + x] * b[row + x];
    });
    return sum(sums) + sum(more) + rest;
}

template <bool is_summed>
inline __attribute__((always_inline)) double add_box(const Space& space, const Cuboid& box, double alpha,
                                                     const double* a, double* y) {
    Lanes sums = {};
    double rest = 0;
    for_rows(space, box, [&](long row, long n, long, long) {
        long x = 0;
        for (; x + lanes <= n; x += lanes) {
            const Lanes value = load(y + row + x) + alpha * load(a + row + x);
            store(y + row + x, value);
            if constexpr (is_summed) sums += value * value;
        }
        for (; x < n; ++x) {
            y[row + x] += alpha * a[row + x];
            if constexpr (is_summed) rest += y[row + x] * y[row + x];
        }
    });
    return sum(sums) + rest;
}

void add(const Space& space, const Cuboid& box, double alpha, const double* a, double* y) {
    add_box<false>(space, box, alpha, a, y);
}

double add_dot(const Space& space, const Cuboid& box, double alpha, const double* a, double* y) {
    return add_box<true>(space, box, alpha, a, y);
}

void direction(const Space& space, const Cuboid& box, const double* r, double beta, double* p) {
    for_rows(space, box, [&](long row, long n, long, long) {
        long x = 0;
        for (; x + lanes <= n; x += lanes) store(p + row + x, load(r + row + x) + beta * load(p + row + x));
        for (; x < n; ++x) p[row + x] = r[row + x] + beta * p[row + x];
    });
}

void joint(const Space& space, const Cuboid& box, double alpha, double beta, const double* r, double* p,
           double* x) {
    for_rows(space, box,
             [&](long row, long n, long, long) { joint_row(alpha, beta, r + row, p + row, x + row, n); });
}

// Of a row of a two-dimensional process: several of them, of all vectors, stay in the nearest cache.
constexpr long piece = 64;
// Rows of two dimensions that are swept together. Planes are not: measured, they cost more than they save.
constexpr int rows_swept_together = 4;

// The operator is behind the update by a layer and a row: a layer is a plane, in two dimensions a row, and a
// row of it a piece of that. In blocks of rows as above.
template <int dimensions, bool is_streaming, int layers_together>
double single_whole(const Space& space, double alpha, double beta, const double* r, double* p, double* x,
                    double* q) {
    Lanes sums = {};
    double rest = 0;
    const bool is_flat = dimensions == 2;
    const long layers = is_flat ? space.ny : space.nz;
    const long rows = is_flat ? (space.nx + piece - 1) / piece : space.ny;
    const long rows_together = is_flat ? rows : space.block_rows();
    const auto at = [&](long row, long layer) {
        return is_flat ? space.at(row * piece, layer, 0) : space.at(0, row, layer);
    };
    const auto length = [&](long row) {
        return is_flat && row == rows - 1 ? space.nx - row * piece : is_flat ? piece : space.nx;
    };
    const auto update = [&](long row, long layer) {
        const long here = at(row, layer);
        joint_row(alpha, beta, r + here, p + here, x + here, length(row));
    };
    const auto apply = [&](long row, long layer) {
        const long here = at(row, layer);
        apply_row<dimensions, is_streaming>(p + here, q + here, length(row), space.pitch, space.plane, sums,
                                            rest);
    };
    for (long first = 0, end; first < rows; first = end) {
        end = std::min(rows, first + rows_together);
        const auto several = [&](auto count, long layer) {
            for (long row = first; row < end; ++row) {
                if (row == 0 || length(row) < length(row - 1)) {
                    for (int k = 0; k < count; ++k) update(row, layer + k);
                    for (int k = 0; row > 0 && k < count; ++k) apply(row - 1, layer - 1 + k);
                    continue;
                }
                layers_row<dimensions, is_streaming, count>(alpha, beta, r, p, x, q, at(row, layer),
                                                            at(row - 1, layer - 1), length(row), space.pitch,
                                                            space.plane, sums, rest);
            }
            for (int k = 0; end == rows && k < count; ++k) apply(rows - 1, layer - 1 + k);
        };
        for (long row = first; row < end; ++row) update(row, 0);
        long layer = 1;
        for (; layer + layers_together <= layers; layer += layers_together)
            several(std::integral_constant<int, layers_together>{}, layer);
        for (; layer < layers; ++layer) several(std::integral_constant<int, 1>{}, layer);
        for (long row = std::max(0L, first - 1); row < (end == rows ? rows : end - 1); ++row)
            apply(row, layers - 1);
    }
    return sum(sums) + rest;
}

double single_dot(const Space& space, double alpha, double beta, const double* r, double* p, double* x,
                  double* q, Stores stores) {
    const bool is_streaming = stores == Stores::streaming;
    double product = 0;
    if (space.dimensions == 2)
        product = is_streaming ? single_whole<2, true, rows_swept_together>(space, alpha, beta, r, p, x, q)
                               : single_whole<2, false, rows_swept_together>(space, alpha, beta, r, p, x, q);
    else
        product = is_streaming ? single_whole<3, true, 1>(space, alpha, beta, r, p, x, q)
                               : single_whole<3, false, 1>(space, alpha, beta, r, p, x, q);
    if (is_streaming) fence();
    return product;
}

template <int dimensions>
double residual_box(const Space& space, const Cuboid& box, const Separable& b, const double* x, double* r) {
    Lanes sums = {};
    double rest = 0;
    for_blocked_rows(space, box, [&](long row, long n, long y, long z) {
        const double outer = b.scale * b.first_y[y] * b.first_z[z];
        const double inner = b.scale * (b.second_y[y] * b.first_z[z] + b.first_y[y] * b.second_z[z]);
        const double *first = b.first + box.from[0], *second = b.second + box.from[0], *from = x + row;
        double* to = r + row;
        long i = operator_on_row<dimensions>(
            from, 0, n, space.pitch, space.plane, [&](long at, const Lanes&, const Lanes& applied) {
                const Lanes value = outer * load(second + at) + inner * load(first + at) - applied;
                store(to + at, value);
                sums += value * value;
            });
        for (; i < n; ++i) {
            const auto get = [from, i](long offset) { return from[i + offset]; };
            to[i] = outer * second[i] + inner * first[i] -
                    operator_at<dimensions, double>(get, from[i - 1], from[i], from[i + 1], space.pitch,
                                                    space.plane);
            rest += to[i] * to[i];
        }
    });
    return sum(sums) + rest;
}

double residual_dot(const Space& space, const Cuboid& box, const Separable& b, const double* x, double* r) {
    return space.dimensions == 2 ? residual_box<2>(space, box, b, x, r)
                                 : residual_box<3>(space, box, b, x, r);
}

void pipelined_dots(const Space& space, const Cuboid& box, double alpha, double beta, const double* q,
                    double* z, double* s, double* p, double* x, double* r, double* w, double dots[2]) {
    Lanes rr = {}, wr = {};
    double rest_rr = 0, rest_wr = 0;
    for_rows(space, box, [&](long row, long n, long, long) {
        long end = row + n, i = row;
        for (; i + lanes <= end; i += lanes) {
            const Lanes zi = load(q + i) + beta * load(z + i), si = load(w + i) + beta * load(s + i);
            const Lanes pi = load(r + i) + beta * load(p + i);
            const Lanes ri = load(r + i) - alpha * si, wi = load(w + i) - alpha * zi;
            store(z + i, zi);
            store(s + i, si);
            store(p + i, pi);
            store(x + i, load(x + i) + alpha * pi);
            store(r + i, ri);
            store(w + i, wi);
            rr += ri * ri;
            wr += wi * ri;
        }
        for (; i < end; ++i) {
            z[i] = q[i] + beta * z[i];
            s[i] = w[i] + beta * s[i];
            p[i] = r[i] + beta * p[i];
            x[i] += alpha * p[i];
            r[i] -= alpha * s[i];
            w[i] -= alpha * z[i];
            rest_rr += r[i] * r[i];
            rest_wr += w[i] * r[i];
        }
    });
    dots[0] = sum(rr) + rest_rr;
    dots[1] = sum(wr) + rest_wr;
}

template <bool is_streaming>
double copy_box(const Space& space, const Cuboid& box, const double* p, double* q) {
    Lanes sums = {};
    for_rows(space, box, [&](long row, long n, long, long) {
        for (long x = 0; x + lanes <= n; x += lanes) {
            const Lanes value = load(p + row + x);
            put<is_streaming>(q + row + x, value);
            sums += value * value;
        }
    });
    return sum(sums);
}

double copy_dot(const Space& space, const Cuboid& box, const double* p, double* q, Stores stores) {
    if (stores == Stores::plain) return copy_box<false>(space, box, p, q);
    const double product = copy_box<true>(space, box, p, q);
    fence();
    return product;
}

template <bool is_streaming>
double joint_copy_box(const Space& space, const Cuboid& box, double alpha, double beta, const double* r,
                      double* p, double* x_, double* q) {
    Lanes sums = {};
    for_rows(space, box, [&](long row, long n, long, long) {
        for (long x = row; x + lanes <= row + n; x += lanes) {
            const Lanes old = load(p + x), value = load(r + x) + beta * old;
            store(x_ + x, load(x_ + x) + alpha * old);
            store(p + x, value);
            put<is_streaming>(q + x, value);
            sums += value * value;
        }
    });
    return sum(sums);
}

double joint_copy_dot(const Space& space, const Cuboid& box, double alpha, double beta, const double* r,
                      double* p, double* x, double* q, Stores stores) {
    if (stores == Stores::plain) return joint_copy_box<false>(space, box, alpha, beta, r, p, x, q);
    const double product = joint_copy_box<true>(space, box, alpha, beta, r, p, x, q);
    fence();
    return product;
}

constexpr Sweeps table(const char* name, bool streams) {
    return {name,       streams,      apply_dot,      dot,      add,           add_dot, direction, joint,
            single_dot, residual_dot, pipelined_dots, copy_dot, joint_copy_dot};
}

}  // namespace
}  // namespace hockney::cg
