// The text of a GOAL file: its characters as they are read, and the labels of a rank's operations.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "goal.hpp"

namespace hockney {

// Of a name in a message.
constexpr std::size_t most_shown = 40;

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool begins_word(char c) { return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_'; }

// Numbers of the operations of a rank by their labels. Most labels are `l` and a number.
class GoalLabels {
  public:
    void clear() {
        numbered_.clear();
        others_.clear();
    }
    // `nobody` for none.
    std::uint32_t find(std::string_view label) const {
        const std::size_t number = number_of(label);
        if (number < numbered_.size() && numbered_[number] != none) return numbered_[number];
        const auto found = others_.find(std::string(label));
        return found == others_.end() ? none : found->second;
    }
    void add(std::string_view label, std::uint32_t operation) {
        const std::size_t number = number_of(label);
        if (number > 2 * std::size_t{operation} + 1024) {
            others_[std::string(label)] = operation;
            return;
        }
        if (number >= numbered_.size()) numbered_.resize(std::max(number + 1, 2 * numbered_.size()), none);
        numbered_[number] = operation;
    }
    static constexpr std::uint32_t none = UINT32_MAX;

  private:
    // SIZE_MAX where it is none.
    static std::size_t number_of(std::string_view label) {
        if (label.size() < 2 || label.size() > 10 || label[0] != 'l') return SIZE_MAX;
        if (label[1] == '0' && label.size() > 2) return SIZE_MAX;
        std::size_t number = 0;
        for (std::size_t i = 1; i < label.size(); ++i) {
            if (label[i] < '0' || label[i] > '9') return SIZE_MAX;
            number = 10 * number + static_cast<std::size_t>(label[i] - '0');
        }
        return number;
    }

    std::vector<std::uint32_t> numbered_;
    std::unordered_map<std::string, std::uint32_t> others_;
};

// Characters of a file, of which those since a mark can be had again. A 0 stands behind those that are held.
class GoalText {
  public:
    explicit GoalText(const std::string& path) : file_(std::fopen(path.c_str(), "rb"), &std::fclose) {
        if (file_ == nullptr) throw GoalFault("cannot read it\ncheck the name and its rights");
        struct stat status{};
        if (fstat(fileno(file_.get()), &status) == 0) size_B_ = static_cast<std::size_t>(status.st_size);
    }

    // 0 at the end, and for a 0.
    char peek() { return buffer_[at_] != 0 || at_ < end_ || !fill() ? buffer_[at_] : peek(); }
    bool is_end() { return peek() == 0 && at_ == end_; }
    void next() {
        line_ += buffer_[at_] == '\n';
        ++at_;
    }
    // Behind the mark: characters may move.
    struct Word {
        std::size_t first = 0, length = 0;
    };
    // Empty where there is none.
    Word take_word() {
        const bool is_word = begins_word(peek());
        const std::size_t first = at_ - mark_;
        if (!is_word) return {first, 0};
        do
            while (begins_word(buffer_[at_]) || is_digit(buffer_[at_])) ++at_;
        while (at_ == end_ && fill());
        return {first, at_ - mark_ - first};
    }
    std::string_view view(const Word& word) const { return {&buffer_[mark_ + word.first], word.length}; }
    // The character behind the next; 0 where there is none.
    char peek_behind() {
        while (at_ + 1 >= end_ && fill()) {
        }
        return at_ < end_ ? buffer_[at_ + 1] : '\0';
    }
    // The number of digits.
    int take_digits(std::int64_t& value, int most) {
        int digits = 0;
        for (value = 0; digits < most && is_digit(peek()); ++at_, ++digits)
            value = 10 * value + (buffer_[at_] - '0');
        return digits;
    }

    void mark() {
        keeps_ = true;
        mark_ = at_;
        mark_line_ = line_;
    }
    // What comes is not needed again, up to the next mark.
    void forget() { keeps_ = false; }
    void go_back() {
        at_ = mark_;
        line_ = mark_line_;
    }
    std::size_t marked_line() const { return mark_line_; }
    // What stands from the mark on, to the end of its line.
    std::string near() {
        go_back();
        std::string text;
        for (; text.size() < most_shown && !is_end() && peek() != '\n'; next())
            text += peek() >= ' ' && peek() < 127 ? peek() : '?';
        return text.substr(0, text.find_last_not_of(' ') + 1);
    }
    // How many of those that have been read the whole file has.
    double share() const {
        return static_cast<double>(size_B_) / static_cast<double>(std::max<std::size_t>(read_B_, 1));
    }

  private:
    bool fill() {
        if (!keeps_) mark_ = at_;
        std::memmove(buffer_.data(), buffer_.data() + mark_, end_ - mark_);
        at_ -= mark_;
        end_ -= mark_;
        mark_ = 0;
        if (2 * end_ > buffer_.size()) buffer_.resize(2 * buffer_.size());
        const std::size_t count =
            std::fread(buffer_.data() + end_, 1, buffer_.size() - end_ - 1, file_.get());
        end_ += count;
        buffer_[end_] = 0;
        read_B_ += count;
        return count > 0;
    }

    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
    std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 18);
    bool keeps_ = false;
    std::size_t at_ = 0, end_ = 0, mark_ = 0, line_ = 1, mark_line_ = 1, size_B_ = 0, read_B_ = 0;
};

}  // namespace hockney
