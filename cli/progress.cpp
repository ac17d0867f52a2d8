// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <string>

namespace abortscope::cli {
namespace {

constexpr const char* clear_line = "\r\x1b[K";

void write_to_terminal(const std::string& text) {
    (void)!::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Progress::Progress(std::size_t total, bool wanted)
    : total_(total), shown_(wanted && isatty(STDERR_FILENO) == 1) {
    refresh();
}

Progress::~Progress() {
    clear();
}

void Progress::advance() {
    ++done_;
    refresh();
}

void Progress::refresh() {
    if (!shown_) return;
    const double passed = std::chrono::duration<double>(Clock::now() - start_).count();
    std::string text = fmt::format("{}{} of {} trials", clear_line, done_, total_);
    if (done_ != 0 && passed > 0) {
        const double rate = static_cast<double>(done_) / passed;
        text += fmt::format(", {:.1f}/s, {:.0f} s left", rate,
                            static_cast<double>(total_ - done_) / rate);
    } else {
        text += fmt::format(", {:.0f} s", passed);
    }
    write_to_terminal(text);
}

void Progress::clear() {
    if (shown_) write_to_terminal(clear_line);
}

}  // namespace abortscope::cli
