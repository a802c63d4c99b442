// The sweeps, written once for vectors of `lanes` doubles. Included by one file for each instruction set, after
// its `#pragma` and its definitions of `lanes` and `stream`; everything here is local to that file.

namespace hockney::cg {
namespace {

typedef double Lanes __attribute__((vector_size(8 * lanes)));

inline __attribute__((always_inline)) Lanes load(const double* from) {
    Lanes value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

inline __attribute__((always_inline)) void store(double* to, const Lanes& value) {
    __builtin_memcpy(to, &value, sizeof value);
}

template <bool is_streaming>
inline __attribute__((always_inline)) void put(double* to, const Lanes& value) {
    if constexpr (is_streaming)
        stream(to, value);
    else
        store(to, value);
}

inline __attribute__((always_inline)) double sum(const Lanes& value) {
    double total = 0;
    for (int lane = 0; lane < lanes; ++lane) total += value[lane];
    return total;
}

// Calls `row(offset, n)` for each row of the box.
template <class Row>
inline __attribute__((always_inline)) void for_rows(const Space& space, const Box& box, const Row& row) {
    if (box.is_empty()) return;
    for (long z = box.z0; z < box.z1; ++z)
        for (long y = box.y0; y < box.y1; ++y) row(space.at(box.x0, y, z), box.x1 - box.x0, y, z);
}

// How many unknowns of a row come before the first one that may pass by the caches as a whole vector.
template <bool is_streaming>
inline __attribute__((always_inline)) long before_aligned(const double* row, long n) {
    if constexpr (!is_streaming) return 0;
    const long past = static_cast<long>(reinterpret_cast<unsigned long>(row) / sizeof(double) % lanes);
    const long before = past == 0 ? 0 : lanes - past;
    return before < n ? before : n;
}

template <int dimensions, class T, class Get>
inline __attribute__((always_inline)) T operator_at(const Get& get, long pitch, long plane) {
    T value = (2.0 * dimensions) * get(0) - get(-1) - get(1) - get(-pitch) - get(pitch);
    if constexpr (dimensions == 3) value = value - get(-plane) - get(plane);
    return value;
}

// q = A p on one row; adds p · q to the sums.
template <int dimensions, bool is_streaming>
inline __attribute__((always_inline)) void apply_row(const double* __restrict__ p, double* __restrict__ q, long n,
                                                     long pitch, long plane, Lanes& sums, double& rest) {
    const auto one = [&](long x) {
        const auto get = [p, x](long offset) { return p[x + offset]; };
        q[x] = operator_at<dimensions, double>(get, pitch, plane);
        rest += p[x] * q[x];
    };
    long x = 0;
    for (const long first = before_aligned<is_streaming>(q, n); x < first; ++x) one(x);
    for (; x + lanes <= n; x += lanes) {
        const auto get = [p, x](long offset) { return load(p + x + offset); };
        const Lanes value = operator_at<dimensions, Lanes>(get, pitch, plane);
        put<is_streaming>(q + x, value);
        sums += load(p + x) * value;
    }
    for (; x < n; ++x) one(x);
}

template <int dimensions, bool is_streaming>
double apply_box(const Space& space, const Box& box, const double* p, double* q) {
    Lanes sums = {};
    double rest = 0;
    for_rows(space, box, [&](long row, long n, long, long) {
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
        for (; x + lanes <= n; x += lanes)
            store(p + row + x, load(r + row + x) + beta * load(p + row + x));
        for (; x < n; ++x) p[row + x] = r[row + x] + beta * p[row + x];
    });
}

inline __attribute__((always_inline)) void joint_row(double alpha, double beta, const double* __restrict__ r,
                                                     double* __restrict__ p, double* __restrict__ x_, long n) {
    long x = 0;
    for (; x + lanes <= n; x += lanes) {
        const Lanes old = load(p + x);
        store(x_ + x, load(x_ + x) + alpha * old);
        store(p + x, load(r + x) + beta * old);
    }
    for (; x < n; ++x) {
        x_[x] += alpha * p[x];
        p[x] = r[x] + beta * p[x];
    }
}

void joint(const Space& space, const Box& box, double alpha, double beta, const double* r, double* p, double* x) {
    for_rows(space, box,
             [&](long row, long n, long, long) { joint_row(alpha, beta, r + row, p + row, x + row, n); });
}

template <int dimensions, bool is_streaming>
double single_whole(const Space& space, double alpha, double beta, const double* r, double* p, double* x,
                    double* q) {
    Lanes sums = {};
    double rest = 0;
    // Rows in memory's order: the operator follows where the row behind it in the slowest direction is new.
    const long rows = space.ny * space.nz, behind = dimensions == 2 ? 1 : space.ny;
    for (long row = 0; row < rows + behind; ++row) {
        if (row < rows) {
            const long at = space.at(0, row % space.ny, row / space.ny);
            joint_row(alpha, beta, r + at, p + at, x + at, space.nx);
        }
        if (row >= behind) {
            const long at = space.at(0, (row - behind) % space.ny, (row - behind) / space.ny);
            apply_row<dimensions, is_streaming>(p + at, q + at, space.nx, space.pitch, space.plane, sums, rest);
        }
    }
    return sum(sums) + rest;
}

double single_dot(const Space& space, double alpha, double beta, const double* r, double* p, double* x, double* q,
                  Stores stores) {
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
    for_rows(space, box, [&](long row, long n, long y, long z) {
        const double outer = b.scale * b.first_y[y] * b.first_z[z];
        const double inner = b.scale * (b.second_y[y] * b.first_z[z] + b.first_y[y] * b.second_z[z]);
        const double *first = b.first + box.x0, *second = b.second + box.x0, *from = x + row;
        double* to = r + row;
        long i = 0;
        for (; i + lanes <= n; i += lanes) {
            const auto get = [from, i](long offset) { return load(from + i + offset); };
            const Lanes value = outer * load(second + i) + inner * load(first + i) -
                                 operator_at<dimensions, Lanes>(get, space.pitch, space.plane);
            store(to + i, value);
            sums += value * value;
        }
        for (; i < n; ++i) {
            const auto get = [from, i](long offset) { return from[i + offset]; };
            to[i] = outer * second[i] + inner * first[i] -
                    operator_at<dimensions, double>(get, space.pitch, space.plane);
            rest += to[i] * to[i];
        }
    });
    return sum(sums) + rest;
}

double residual_dot(const Space& space, const Box& box, const Separable& b, const double* x, double* r) {
    return space.dimensions == 2 ? residual_box<2>(space, box, b, x, r) : residual_box<3>(space, box, b, x, r);
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
double joint_copy_box(const Space& space, const Box& box, double alpha, double beta, const double* r, double* p,
                      double* x_, double* q) {
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

double joint_copy_dot(const Space& space, const Box& box, double alpha, double beta, const double* r, double* p,
                      double* x, double* q, Stores stores) {
    if (stores == Stores::plain) return joint_copy_box<false>(space, box, alpha, beta, r, p, x, q);
    const double product = joint_copy_box<true>(space, box, alpha, beta, r, p, x, q);
    fence();
    return product;
}

constexpr Sweeps table(const char* name) {
    return {name,         apply,          apply_dot, dot,           add, add_dot, direction, joint, single_dot,
            residual_dot, pipelined_dots, copy_dot,  joint_copy_dot};
}

}  // namespace
}  // namespace hockney::cg
