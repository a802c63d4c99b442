// The sweeps, written once for vectors of `lanes` doubles. Included by one file for each instruction set,
// after its `#pragma` and its definition of `lanes`; everything here is local to that file.

#include "sweep_rows.hpp"

namespace hockney::cg {
namespace {

template <int dimensions, bool is_streaming>
double apply_box(const Space& space, const Box& box, const double* p, double* q) {
    Lanes sums = {};
    double rest = 0;
    for_blocked_rows(space, box, [&](long row, long n, long, long) {
        apply_row<dimensions, is_streaming>(p + row, q + row, n, space.pitch, space.plane, sums, rest);
    });
    return sum(sums) + rest;
}

double apply_dot(const Space& space, const Box& box, const double* p, double* q, Stores stores) {
    const bool is_streaming = stores == Stores::streaming;
    double product = 0;
    if (space.dimensions == 2)
        product = is_streaming ? apply_box<2, true>(space, box, p, q) : apply_box<2, false>(space, box, p, q);
    else
        product = is_streaming ? apply_box<3, true>(space, box, p, q) : apply_box<3, false>(space, box, p, q);
    if (is_streaming) fence();
    return product;
}

void apply(const Space& space, const Box& box, const double* p, double* q, Stores stores) {
    apply_dot(space, box, p, q, stores);
}

double dot(const Space& space, const Box& box, const double* a, const double* b) {
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
inline __attribute__((always_inline)) double add_box(const Space& space, const Box& box, double alpha,
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

void add(const Space& space, const Box& box, double alpha, const double* a, double* y) {
    add_box<false>(space, box, alpha, a, y);
}

double add_dot(const Space& space, const Box& box, double alpha, const double* a, double* y) {
    return add_box<true>(space, box, alpha, a, y);
}

void direction(const Space& space, const Box& box, const double* r, double beta, double* p) {
    for_rows(space, box, [&](long row, long n, long, long) {
        long x = 0;
        for (; x + lanes <= n; x += lanes) store(p + row + x, load(r + row + x) + beta * load(p + row + x));
        for (; x < n; ++x) p[row + x] = r[row + x] + beta * p[row + x];
    });
}

void joint(const Space& space, const Box& box, double alpha, double beta, const double* r, double* p,
           double* x) {
    for_rows(space, box,
             [&](long row, long n, long, long) { joint_row(alpha, beta, r + row, p + row, x + row, n); });
}

// By blocks of rows as above. The operator is a plane (in two dimensions a row) behind the update, and, where
// another block follows, a row short of it: that row has no new neighbour yet.
template <int dimensions, bool is_streaming>
double single_whole(const Space& space, double alpha, double beta, const double* r, double* p, double* x,
                    double* q) {
    Lanes sums = {};
    double rest = 0;
    const bool is_flat = dimensions == 2;
    const long planes = is_flat ? space.ny : space.nz, rows = is_flat ? 1 : space.ny;
    const auto at = [&](long y, long z) { return is_flat ? space.at(0, z, 0) : space.at(0, y, z); };
    for (long y0 = 0, y1; y0 < rows; y0 = y1) {
        y1 = y0 + space.block_rows() < rows ? y0 + space.block_rows() : rows;
        const long first = y0 == 0 ? 0 : y0 - 1, end = y1 == rows ? rows : y1 - 1;
        for (long z = 0; z <= planes; ++z) {
            long behind = z == 0 ? end : first;
            const auto apply_behind = [&] {
                const long there = at(behind++, z - 1);
                apply_row<dimensions, is_streaming>(p + there, q + there, space.nx, space.pitch, space.plane,
                                                    sums, rest);
            };
            for (long y = y0; y < y1 && z < planes; ++y) {
                const long here = at(y, z);
                if (behind == end) {
                    joint_row(alpha, beta, r + here, p + here, x + here, space.nx);
                    continue;
                }
                const long there = at(behind++, z - 1);
                both_rows<dimensions, is_streaming>(alpha, beta, r + here, p + here, x + here, p + there,
                                                    q + there, space.nx, space.pitch, space.plane, sums,
                                                    rest);
            }
            while (behind < end) apply_behind();
        }
    }
    return sum(sums) + rest;
}

double single_dot(const Space& space, double alpha, double beta, const double* r, double* p, double* x,
                  double* q, Stores stores) {
    const bool is_streaming = stores == Stores::streaming;
    double product = 0;
    if (space.dimensions == 2)
        product = is_streaming ? single_whole<2, true>(space, alpha, beta, r, p, x, q)
                               : single_whole<2, false>(space, alpha, beta, r, p, x, q);
    else
        product = is_streaming ? single_whole<3, true>(space, alpha, beta, r, p, x, q)
                               : single_whole<3, false>(space, alpha, beta, r, p, x, q);
    if (is_streaming) fence();
    return product;
}

template <int dimensions>
double residual_box(const Space& space, const Box& box, const Separable& b, const double* x, double* r) {
    Lanes sums = {};
    double rest = 0;
    for_blocked_rows(space, box, [&](long row, long n, long y, long z) {
        const double outer = b.scale * b.first_y[y] * b.first_z[z];
        const double inner = b.scale * (b.second_y[y] * b.first_z[z] + b.first_y[y] * b.second_z[z]);
        const double *first = b.first + box.x0, *second = b.second + box.x0, *from = x + row;
        double* to = r + row;
        long i = operator_on_row<dimensions>(
            from, 0, n, space.pitch, space.plane, [](long) {},
            [&](long at, const Lanes&, const Lanes& applied) {
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

double residual_dot(const Space& space, const Box& box, const Separable& b, const double* x, double* r) {
    return space.dimensions == 2 ? residual_box<2>(space, box, b, x, r)
                                 : residual_box<3>(space, box, b, x, r);
}

void pipelined_dots(const Space& space, const Box& box, double alpha, double beta, const double* q, double* z,
                    double* s, double* p, double* x, double* r, double* w, double dots[2]) {
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
double copy_box(const Space& space, const Box& box, const double* p, double* q) {
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

double copy_dot(const Space& space, const Box& box, const double* p, double* q, Stores stores) {
    if (stores == Stores::plain) return copy_box<false>(space, box, p, q);
    const double product = copy_box<true>(space, box, p, q);
    fence();
    return product;
}

template <bool is_streaming>
double joint_copy_box(const Space& space, const Box& box, double alpha, double beta, const double* r,
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

double joint_copy_dot(const Space& space, const Box& box, double alpha, double beta, const double* r,
                      double* p, double* x, double* q, Stores stores) {
    if (stores == Stores::plain) return joint_copy_box<false>(space, box, alpha, beta, r, p, x, q);
    const double product = joint_copy_box<true>(space, box, alpha, beta, r, p, x, q);
    fence();
    return product;
}

constexpr Sweeps table(const char* name, bool streams) {
    return {name,  streams,    apply,        apply_dot,      dot,      add,           add_dot, direction,
            joint, single_dot, residual_dot, pipelined_dots, copy_dot, joint_copy_dot};
}

}  // namespace
}  // namespace hockney::cg
