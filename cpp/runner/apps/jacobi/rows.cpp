#include "rows.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HOCKNEY_X86
#endif

namespace hockney {
namespace {

void portable(double* to, const double* from, long pitch, long plane, long cells) {
    for (long x = 0; x < cells; ++x) to[x] = mean(from + x, pitch, plane);
}

void portable_copy(double* to, const double* from, long lines) {
    for (long n = 0; n < 8 * lines; ++n) to[n] = from[n];
}

#ifdef HOCKNEY_X86

[[gnu::target("avx512f"), gnu::always_inline]] inline __m512d mean8(const double* from, long pitch,
                                                                    long plane) {
    const __m512d along_x = _mm512_add_pd(_mm512_loadu_pd(from - 1), _mm512_loadu_pd(from + 1));
    const __m512d along_y = _mm512_add_pd(_mm512_load_pd(from - pitch), _mm512_load_pd(from + pitch));
    const __m512d along_z = _mm512_add_pd(_mm512_load_pd(from - plane), _mm512_load_pd(from + plane));
    return _mm512_mul_pd(_mm512_set1_pd(1.0 / 6.0), _mm512_add_pd(_mm512_add_pd(along_x, along_y), along_z));
}

template <bool is_non_temporal>
[[gnu::target("avx512f"), gnu::always_inline]] inline void store8(double* to, __m512d value) {
    if (is_non_temporal)
        _mm512_stream_pd(to, value);
    else
        _mm512_store_pd(to, value);
}

template <bool is_non_temporal>
[[gnu::target("avx512f")]] void avx512(double* to, const double* from, long pitch, long plane, long cells) {
    long x = 0;
    for (; x + 8 <= cells; x += 8) store8<is_non_temporal>(to + x, mean8(from + x, pitch, plane));
    if (x < cells) {
        const __mmask8 inside = static_cast<__mmask8>((1 << (cells - x)) - 1);
        store8<is_non_temporal>(
            to + x, _mm512_mask_mov_pd(_mm512_load_pd(from + x), inside, mean8(from + x, pitch, plane)));
    }
}

template <bool is_non_temporal>
[[gnu::target("avx512f")]] void avx512_copy(double* to, const double* from, long lines) {
    for (long n = 0; n < 8 * lines; n += 8) store8<is_non_temporal>(to + n, _mm512_load_pd(from + n));
}

[[gnu::target("avx2"), gnu::always_inline]] inline __m256d mean4(const double* from, long pitch, long plane) {
    const __m256d along_x = _mm256_add_pd(_mm256_loadu_pd(from - 1), _mm256_loadu_pd(from + 1));
    const __m256d along_y = _mm256_add_pd(_mm256_load_pd(from - pitch), _mm256_load_pd(from + pitch));
    const __m256d along_z = _mm256_add_pd(_mm256_load_pd(from - plane), _mm256_load_pd(from + plane));
    return _mm256_mul_pd(_mm256_set1_pd(1.0 / 6.0), _mm256_add_pd(_mm256_add_pd(along_x, along_y), along_z));
}

template <bool is_non_temporal>
[[gnu::target("avx2"), gnu::always_inline]] inline void store4(double* to, __m256d value) {
    if (is_non_temporal)
        _mm256_stream_pd(to, value);
    else
        _mm256_store_pd(to, value);
}

template <bool is_non_temporal>
[[gnu::target("avx2")]] void avx2(double* to, const double* from, long pitch, long plane, long cells) {
    long x = 0;
    for (; x + 4 <= cells; x += 4) store4<is_non_temporal>(to + x, mean4(from + x, pitch, plane));
    // Up to the end of the line.
    for (; x % 8 != 0; x += 4) {
        const __m256d number =
            _mm256_add_pd(_mm256_set1_pd(static_cast<double>(x)), _mm256_setr_pd(0, 1, 2, 3));
        const __m256d inside = _mm256_cmp_pd(number, _mm256_set1_pd(static_cast<double>(cells)), _CMP_LT_OQ);
        store4<is_non_temporal>(
            to + x, _mm256_blendv_pd(_mm256_load_pd(from + x), mean4(from + x, pitch, plane), inside));
    }
}

template <bool is_non_temporal>
[[gnu::target("avx2")]] void avx2_copy(double* to, const double* from, long lines) {
    for (long n = 0; n < 8 * lines; n += 4) store4<is_non_temporal>(to + n, _mm256_load_pd(from + n));
}

void fence() { _mm_sfence(); }
bool has_avx512() { return __builtin_cpu_supports("avx512f") != 0; }
bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }

#endif

void nothing() {}
bool always() { return true; }

const Rows all[] = {
#ifdef HOCKNEY_X86
    {"avx512", has_avx512, avx512<false>, avx512<true>, avx512_copy<false>, avx512_copy<true>, fence},
    {"avx2", has_avx2, avx2<false>, avx2<true>, avx2_copy<false>, avx2_copy<true>, fence},
#endif
    {"portable", always, portable, nullptr, portable_copy, nullptr, nothing},
};

}  // namespace

std::vector<Rows> rows_here() {
    std::vector<Rows> here;
    for (const Rows& rows : all)
        if (rows.is_there()) here.push_back(rows);
    return here;
}

}  // namespace hockney
