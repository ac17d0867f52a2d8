// SPDX-License-Identifier: Apache-2.0
//
// Where text goes: a file or standard output, with every failure noticed.
//
// Nothing is buffered: what `write` was given is with the kernel when it returns, so an interrupt
// between two writes loses nothing and leaves no half a row. The program ignores SIGPIPE, so a
// reader that has gone away is an error here like any other.
#pragma once

#include <string>
#include <string_view>

namespace abortscope {

class Output {
  public:
    /// Standard output. It is not closed with the handle.
    static Output standard();
    /// Standard error, likewise.
    static Output standard_error();
    /// Standard output for "-", otherwise the file, created or emptied. Throws IoError.
    static Output open(const std::string& path);

    Output(Output&& other) noexcept;
    Output& operator=(Output&&) = delete;
    ~Output();

    /// All of it, or IoError ("cannot write out.csv: No space left on device").
    void write(std::string_view text);
    /// The same for people: long lines are folded to the width of a terminal, if it is one.
    void print(std::string_view text);

    bool is_terminal() const;
    /// Columns of the terminal; 80 where it is none or does not say.
    unsigned width() const;

  private:
    Output(int descriptor, std::string name, bool owned);

    int descriptor_;
    std::string name_;
    bool owned_;
};

/// Replaces the file whole or not at all: written beside it and renamed. What cannot be renamed
/// over (a device, a pipe) is written straight. "-" is standard output. Throws IoError.
void write_whole(const std::string& path, std::string_view text);

/// Throws IoError if `write_whole` could not succeed there, without touching the file.
void require_writable(const std::string& path);

}  // namespace abortscope
