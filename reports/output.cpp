// SPDX-License-Identifier: Apache-2.0
#include "reports/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "profiler/errors.hpp"
#include "reports/wrapped.hpp"

namespace abortscope {
namespace {

constexpr std::string_view standard_name = "standard output";

[[noreturn]] void fail(std::string_view name, int error) {
    const bool gone = error == EPIPE || (error == EBADF && name == standard_name);
    throw IoError(
        fmt::format("cannot write {}: {}", name, gone ? "it is closed" : std::strerror(error)));
}

bool is_replaceable(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

/// The file that a symbolic link stands for, so that a rename replaces it and not the link.
std::string resolved(const std::string& path) {
    char* real = realpath(path.c_str(), nullptr);
    if (real == nullptr) return path;
    std::string result(real);
    std::free(real);
    return result;
}

std::string template_beside(const std::string& path) {
    return path + ".XXXXXX";
}

}  // namespace

Output::Output(int descriptor, std::string name, bool owned)
    : descriptor_(descriptor), name_(std::move(name)), owned_(owned) {}

Output::Output(Output&& other) noexcept
    : descriptor_(other.descriptor_),
      name_(std::move(other.name_)),
      owned_(std::exchange(other.owned_, false)) {}

Output::~Output() {
    if (owned_) ::close(descriptor_);
}

Output Output::standard() {
    return Output(STDOUT_FILENO, std::string(standard_name), false);
}

Output Output::standard_error() {
    return Output(STDERR_FILENO, "standard error", false);
}

Output Output::open(const std::string& path) {
    if (path == "-") return standard();
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) fail(path, errno);
    return Output(descriptor, path, true);
}

void Output::write(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor_, text.data(), text.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            fail(name_, errno);
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void Output::print(std::string_view text) {
    write(is_terminal() ? folded(text, width()) : std::string(text));
}

bool Output::is_terminal() const {
    return isatty(descriptor_) == 1;
}

unsigned Output::width() const {
    constexpr unsigned usual = 80;
    winsize size{};
    const bool known = ioctl(descriptor_, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
    return known ? size.ws_col : usual;
}

void write_whole(const std::string& path, std::string_view text) {
    if (path == "-" || !is_replaceable(path)) {
        Output::open(path).write(text);
        return;
    }
    const std::string target = resolved(path);
    std::string beside = template_beside(target);
    const int descriptor = mkostemp(beside.data(), O_CLOEXEC);
    if (descriptor < 0) fail(path, errno);
    ::close(descriptor);
    try {
        Output::open(beside).write(text);
    } catch (const IoError&) {
        const int error = errno;
        unlink(beside.c_str());
        fail(path, error);
    }
    // mkostemp gives 0600; the file shall have the rights that any new file would.
    const mode_t mask = umask(0);
    umask(mask);
    struct stat old {};
    const mode_t mode = stat(target.c_str(), &old) == 0 ? old.st_mode & 07777u : 0666u & ~mask;
    if (chmod(beside.c_str(), mode) != 0 || rename(beside.c_str(), target.c_str()) != 0) {
        const int error = errno;
        unlink(beside.c_str());
        fail(path, error);
    }
}

void require_writable(const std::string& path) {
    if (path == "-") return;
    if (!is_replaceable(path)) {
        const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        if (descriptor < 0) fail(path, errno);
        ::close(descriptor);
        return;
    }
    std::string beside = template_beside(resolved(path));
    const int descriptor = mkostemp(beside.data(), O_CLOEXEC);
    if (descriptor < 0) fail(path, errno);
    ::close(descriptor);
    unlink(beside.c_str());
}

}  // namespace abortscope
