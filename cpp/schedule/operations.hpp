// The operations of programs of users' schedules, and what those calculate that take two numbers.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "written.hpp"

namespace hockney::written {

// In the order of `OPERATIONS` in schedule/written.py, a row for each of its rows. Those up to `at_line` have
// a number behind them, `loop` has two.
// clang-format off
enum class Operation : Word {
    constant, load, store, load_region, store_region, jump, jump_unless,
    send, receive, copy, reduce, at_line, loop,
    add, subtract, multiply, divide, modulo, power, left, right, conjunction, disjunction, exclusive,
    negate, invert, less, less_equal, equal, unequal, no, logarithm, minimum, maximum,
    input, output, nothing, block, blocks, part, scratch, length, wait, need, drop
};
// clang-format on

// By reference: it is read after the operation that writes it.
inline Word exact(bool overflows, const Word& result) {
    if (overflows) throw std::domain_error("a number beyond 2^63");
    return result;
}
inline void expect_few(Word bits) {
    if (bits < 0 || bits > 62)
        throw std::domain_error("an exponent or a shift must be 0 to 62, not " + std::to_string(bits));
}
// Rounded down, as in Python.
inline Word divided(Word a, Word b) {
    if (b == 0) throw std::domain_error("a division by zero");
    if (b == -1) {
        Word result = 0;
        return exact(__builtin_sub_overflow(Word{0}, a, &result), result);
    }
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
// What `divided` leaves: it has the sign of b.
inline Word modulo(Word a, Word b) {
    if (b == 0) throw std::domain_error("a division by zero");
    if (b == -1) return 0;
    return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
}
inline Word power(Word a, Word b) {
    expect_few(b);
    Word result = 1;
    for (; b > 0; --b) exact(__builtin_mul_overflow(result, a, &result), result);
    return result;
}
inline Word shifted(Word a, Word b) {
    Word result = 0;
    expect_few(b);
    return exact(__builtin_mul_overflow(a, Word{1} << b, &result), result);
}
// Of two numbers; std::domain_error where there is no result.
inline Word calculated(Operation operation, Word a, Word b) {
    Word result = 0;
    switch (operation) {
        case Operation::add:
            return exact(__builtin_add_overflow(a, b, &result), result);
        case Operation::subtract:
            return exact(__builtin_sub_overflow(a, b, &result), result);
        case Operation::multiply:
            return exact(__builtin_mul_overflow(a, b, &result), result);
        case Operation::divide:
            return divided(a, b);
        case Operation::modulo:
            return modulo(a, b);
        case Operation::power:
            return power(a, b);
        case Operation::left:
            return shifted(a, b);
        case Operation::right:
            return expect_few(b), a >> b;
        case Operation::conjunction:
            return a & b;
        case Operation::disjunction:
            return a | b;
        case Operation::exclusive:
            return a ^ b;
        case Operation::less:
            return a < b;
        case Operation::less_equal:
            return a <= b;
        case Operation::equal:
            return a == b;
        case Operation::unequal:
            return a != b;
        case Operation::minimum:
            return std::min(a, b);
        case Operation::maximum:
            return std::max(a, b);
        default:
            throw std::domain_error("the program has unknown operations");
    }
}

}  // namespace hockney::written
