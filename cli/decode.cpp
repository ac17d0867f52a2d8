// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "profiler/decode.hpp"
#include "profiler/errors.hpp"
#include "profiler/nearest.hpp"
#include "reports/output.hpp"

namespace abortscope::cli {
namespace {

constexpr std::uint64_t largest_status = 0xffff'ffff;

rtm::Status status_of(std::uint64_t word, std::string_view text) {
    if (word > largest_status) {
        throw UsageError(fmt::format(
            "{} has more than the 32 bits of an abort status; --perf-txn decodes the flags of perf "
            "samples",
            in_quotes(text)));
    }
    return rtm::Status{static_cast<std::uint32_t>(word)};
}

std::string decode_arguments(const std::vector<std::string>& arguments, bool transaction_flags) {
    std::string text;
    StatusLog log;
    for (const std::string& argument : arguments) {
        const auto word = parse_word(argument);
        if (!word) {
            throw UsageError(
                fmt::format("{} is not a number, in decimal or as 0x…", in_quotes(argument)));
        }
        if (!text.empty()) text += '\n';
        if (transaction_flags) {
            text += explain_transaction_flags(*word);
        } else {
            const rtm::Status status = status_of(*word, argument);
            text += explain_status(status);
            log.add(status);
        }
    }
    if (log.size() > 1) text += '\n' + log.text();
    return text;
}

std::string decode_input(bool transaction_flags) {
    std::string text;
    StatusLog log;
    std::uint64_t found = 0;
    for (std::string line; std::getline(std::cin, line);) {
        for (const std::uint64_t word : words_in(line)) {
            ++found;
            if (transaction_flags) {
                text += explain_transaction_flags(word);
            } else if (word <= largest_status) {
                log.add(rtm::Status{static_cast<std::uint32_t>(word)});
            } else {
                note(fmt::format("{:#x} has more than 32 bits: passed over", word));
            }
        }
    }
    if (found == 0) throw IoError("no status word on standard input");
    return transaction_flags ? text : log.text();
}

}  // namespace

Action declare_decode(CLI::App& app) {
    struct Options {
        std::vector<std::string> words;
        bool transaction_flags = false;
    };
    auto options = std::make_shared<Options>();
    app.add_option("STATUS", options->words,
                   "Status words, in decimal or as 0x…; none or -: the words of a log on standard "
                   "input");
    app.add_flag("--perf-txn", options->transaction_flags,
                 "The words are transaction flags of perf samples (perf script -F +transaction)");
    return [options] {
        const bool from_input =
            options->words.empty() || options->words == std::vector<std::string>{"-"};
        Output::standard().print(
            from_input ? decode_input(options->transaction_flags)
                       : decode_arguments(options->words, options->transaction_flags));
        return exit_code::done;
    };
}

}  // namespace abortscope::cli
