// The sweeps, written once for vectors of `lanes` doubles. Included by one file for each instruction set,
// after its `#pragma` and its definition of `lanes`; everything here is local to that file.

namespace hockney::cg {
namespace {

// How far ahead lines are fetched, in doubles.
constexpr long fetched_ahead = 64;

typedef double Lanes __attribute__((vector_size(8 * lanes)));

inline __attribute__((always_inline)) Lanes load(const double* from) {
    Lanes value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

inline __attribute__((always_inline)) void store(double* to, const Lanes& value) {
    __builtin_memcpy(to, &value, sizeof value);
}

#ifndef HOCKNEY_CG_WHOLE_LINES
// A store that passes by the caches pays for whole lines only.
inline __attribute__((always_inline)) void stream(double* to, const Lanes& value) { store(to, value); }
inline __attribute__((always_inline)) void fence() {}
// The lanes at one place before and behind.
inline __attribute__((always_inline)) Lanes left_of(const double* at, const Lanes&, const Lanes&) {
    return load(at - 1);
}
inline __attribute__((always_inline)) Lanes right_of(const double* at, const Lanes&, const Lanes&) {
    return load(at + 1);
}
#endif

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

// Likewise in blocks of rows so few that three planes of a block stay in the caches: the operator reads
// what it read a plane before.
template <class Row>
inline __attribute__((always_inline)) void for_blocked_rows(const Space& space, const Box& box,
                                                            const Row& row) {
    Box block = box;
    for (; block.y0 < box.y1; block.y0 = block.y1) {
        block.y1 = block.y0 + space.block_rows() < box.y1 ? block.y0 + space.block_rows() : box.y1;
        for_rows(space, block, row);
    }
}

// How many unknowns of a row come before the first one that may pass by the caches as a whole vector.
template <bool is_streaming>
inline __attribute__((always_inline)) long before_aligned(const double* row, long n) {
    if constexpr (!is_streaming) return 0;
    const long past = static_cast<long>(reinterpret_cast<unsigned long>(row) / sizeof(double) % lanes);
    const long before = past == 0 ? 0 : lanes - past;
    return before < n ? before : n;
}

// A at one place or, with Lanes, at several next to each other; `get` reads there and elsewhere.
template <int dimensions, class T, class Get>
inline __attribute__((always_inline)) T operator_at(const Get& get, const T& left, const T& here,
                                                    const T& right, long pitch, long plane) {
    T value = (2.0 * dimensions) * here - left - right - get(-pitch) - get(pitch);
    if constexpr (dimensions == 3) value = value - get(-plane) - get(plane);
    return value;
}

// A on one row, where `use(x, here, value)` is called with p and A p at x and the places next to it, `one(x)`
// for the rest. The line that comes next from far away is fetched early: no processor foresees it among the
// rows that are near.
template <int dimensions, class Use>
inline __attribute__((always_inline)) long operator_on_row(const double* p, long x, long n, long pitch,
                                                           long plane, const Use& use) {
    const double* far = p + (dimensions == 2 ? pitch : plane) + fetched_ahead;
    Lanes before = load(p + x - lanes), here = load(p + x);
    for (; x + lanes <= n; x += lanes) {
        __builtin_prefetch(far + x);
        const Lanes next = load(p + x + lanes);
        const auto get = [p, x](long offset) { return load(p + x + offset); };
        use(x, here,
            operator_at<dimensions, Lanes>(get, left_of(p + x, before, here), here,
                                           right_of(p + x, here, next), pitch, plane));
        before = here;
        here = next;
    }
    return x;
}

// q = A p on one row; adds p · q to the sums.
template <int dimensions, bool is_streaming>
inline __attribute__((always_inline)) void apply_row(const double* p, double* q, long n, long pitch,
                                                     long plane, Lanes& sums, double& rest) {
    const auto one = [&](long x) {
        const auto get = [p, x](long offset) { return p[x + offset]; };
        q[x] = operator_at<dimensions, double>(get, p[x - 1], p[x], p[x + 1], pitch, plane);
        rest += p[x] * q[x];
    };
    long x = 0;
    for (const long first = before_aligned<is_streaming>(q, n); x < first; ++x) one(x);
    x = operator_on_row<dimensions>(p, x, n, pitch, plane,
                                    [&](long at, const Lanes& here, const Lanes& value) {
                                        put<is_streaming>(q + at, value);
                                        sums += here * value;
                                    });
    for (; x < n; ++x) one(x);
}

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

inline __attribute__((always_inline)) void joint_lanes(double alpha, double beta, const double* r, double* p,
                                                       double* x) {
    __builtin_prefetch(r + fetched_ahead);
    __builtin_prefetch(p + fetched_ahead);
    __builtin_prefetch(x + fetched_ahead);
    const Lanes old = load(p);
    store(x, load(x) + alpha * old);
    store(p, load(r) + beta * old);
}

inline __attribute__((always_inline)) void joint_row(double alpha, double beta, const double* r, double* p,
                                                     double* x_, long n) {
    long x = 0;
    for (; x + lanes <= n; x += lanes) joint_lanes(alpha, beta, r + x, p + x, x_ + x);
    for (; x < n; ++x) {
        x_[x] += alpha * p[x];
        p[x] = r[x] + beta * p[x];
    }
}

void joint(const Space& space, const Box& box, double alpha, double beta, const double* r, double* p,
           double* x) {
    for_rows(space, box,
             [&](long row, long n, long, long) { joint_row(alpha, beta, r + row, p + row, x + row, n); });
}

// One row of x and p, and one of q = A p that needs of this p no more than what is at the same place of the
// row.
template <int dimensions, bool is_streaming>
inline __attribute__((always_inline)) void both_rows(double alpha, double beta, const double* r, double* p,
                                                     double* x_, const double* p_behind, double* q, long n,
                                                     long pitch, long plane, Lanes& sums, double& rest) {
    const long x = operator_on_row<dimensions>(p_behind, 0, n, pitch, plane,
                                               [&](long at, const Lanes& here, const Lanes& value) {
                                                   put<is_streaming>(q + at, value);
                                                   sums += here * value;
                                                   joint_lanes(alpha, beta, r + at, p + at, x_ + at);
                                               });
    joint_row(alpha, beta, r + x, p + x, x_ + x, n - x);
    apply_row<dimensions, false>(p_behind + x, q + x, n - x, pitch, plane, sums, rest);
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
            for (; behind < end; ++behind) {
                const long there = at(behind, z - 1);
                apply_row<dimensions, is_streaming>(p + there, q + there, space.nx, space.pitch, space.plane,
                                                    sums, rest);
            }
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
