// SPDX-License-Identifier: Apache-2.0
#include "profiler/host/host_description.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

#include "machines/native/rtm_probe.hpp"

namespace abortscope {
namespace {

namespace fs = std::filesystem;

constexpr unsigned cap_sys_admin_bit = 21;  // linux/capability.h
constexpr unsigned cap_perfmon_bit = 38;

std::optional<std::string> read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (file.bad()) return std::nullopt;
    return text;
}

std::string trimmed(std::string_view text) {
    const auto blank = " \t\r\n";
    const auto first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(blank) - first + 1));
}

std::optional<std::string> read_line(const fs::path& path) {
    const auto text = read_file(path);
    if (!text) return std::nullopt;
    return trimmed(std::string_view(*text).substr(0, text->find('\n')));
}

template <class Integer>
std::optional<Integer> number_in(std::string_view text, int base = 10) {
    Integer value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<int> read_number(const fs::path& path) {
    const auto line = read_line(path);
    return line ? number_in<int>(*line) : std::nullopt;
}

/// "0-3,8" as the kernel writes lists of CPUs.
std::vector<unsigned> cpu_list(std::string_view text) {
    std::vector<unsigned> cpus;
    std::istringstream ranges{std::string(text)};
    for (std::string range; std::getline(ranges, range, ',');) {
        const auto dash = range.find('-');
        const auto first = number_in<unsigned>(std::string_view(range).substr(0, dash));
        const auto last = dash == std::string::npos
                              ? first
                              : number_in<unsigned>(std::string_view(range).substr(dash + 1));
        if (!first || !last || *last - *first > 65'535) continue;
        for (unsigned cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    }
    return cpus;
}

/// The value of "key<separator>value" on a line of its own, as in /proc/self/status.
std::optional<std::string> field(std::string_view text, std::string_view key) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        const auto colon = line.find(':');
        if (colon != std::string::npos && trimmed(line.substr(0, colon)) == key) {
            return trimmed(std::string_view(line).substr(colon + 1));
        }
    }
    return std::nullopt;
}

bool bit(std::uint32_t word, unsigned number) {
    return (word >> number & 1u) != 0;
}

template <std::size_t N>
std::string text_of(const std::array<std::uint32_t, N>& registers) {
    std::array<char, N * 4 + 1> text{};
    std::memcpy(text.data(), registers.data(), N * 4);
    return trimmed(text.data());
}

CpuFacts read_cpu(const fs::path& root, const CpuidSource& cpuid) {
    CpuFacts cpu;
    const CpuidLeaf first = cpuid.leaf(0);
    cpu.vendor = text_of<3>({first.ebx, first.edx, first.ecx});

    const CpuidLeaf version = cpuid.leaf(1);
    const unsigned base_family = version.eax >> 8 & 0xfu;
    cpu.stepping = version.eax & 0xfu;
    cpu.model = version.eax >> 4 & 0xfu;
    cpu.family = base_family;
    // SDM vol. 2, CPUID leaf 1: the extended fields count only for these base families.
    if (base_family == 0xf) cpu.family += version.eax >> 20 & 0xffu;
    if (base_family == 0x6 || base_family == 0xf) cpu.model |= (version.eax >> 16 & 0xfu) << 4;
    cpu.hypervisor = bit(version.ecx, 31);
    if (cpu.hypervisor) {
        const CpuidLeaf signature = cpuid.leaf(0x4000'0000u);
        cpu.hypervisor_signature = text_of<3>({signature.ebx, signature.ecx, signature.edx});
    }

    const CpuidLeaf features = cpuid.leaf(7);
    cpu.hle = bit(features.ebx, 4);
    cpu.rtm = bit(features.ebx, 11);
    cpu.rtm_always_abort = bit(features.edx, 11);
    cpu.tsx_force_abort = bit(features.edx, 13);
    cpu.hybrid = bit(features.edx, 15);
    cpu.tsxldtrk = bit(features.edx, 16);

    const bool intel = cpu.vendor == "GenuineIntel";
    if (intel) {  // AMD leaves 0AH reserved
        const CpuidLeaf pmu = cpuid.leaf(0xa);
        cpu.pmu_version = pmu.eax & 0xffu;
        cpu.general_counters = pmu.eax >> 8 & 0xffu;
        cpu.fixed_counters = pmu.edx & 0x1fu;
        cpu.known = cpu_model(cpu.family, cpu.model, cpu.stepping);
        if (cpu.known != nullptr) cpu.microarch = microarch_named(cpu.known->microarch);
    }

    std::array<std::uint32_t, 12> brand{};
    for (std::uint32_t part = 0; part < 3; ++part) {
        const CpuidLeaf leaf = cpuid.leaf(0x8000'0002u + part);
        brand[part * 4] = leaf.eax;
        brand[part * 4 + 1] = leaf.ebx;
        brand[part * 4 + 2] = leaf.ecx;
        brand[part * 4 + 3] = leaf.edx;
    }
    cpu.brand = text_of(brand);

    const auto cpuinfo = read_file(root / "proc/cpuinfo").value_or("");
    if (cpu.brand.empty()) cpu.brand = field(cpuinfo, "model name").value_or("");
    cpu.microcode = read_line(root / "sys/devices/system/cpu/cpu0/microcode/version")
                        .value_or(field(cpuinfo, "microcode").value_or(""));
    return cpu;
}

/// The last `tsx=` counts, as for the kernel.
std::optional<std::string> tsx_option(std::string_view command_line) {
    std::optional<std::string> option;
    std::istringstream words{std::string(command_line)};
    for (std::string word; words >> word;) {
        if (word.starts_with("tsx=")) option = word.substr(4);
    }
    return option;
}

std::optional<std::string> tsx_default(std::string_view configuration) {
    struct Mode {
        std::string_view line;
        std::string_view name;
    };
    constexpr std::array<Mode, 3> modes{{{"CONFIG_X86_INTEL_TSX_MODE_OFF=y", "off"},
                                         {"CONFIG_X86_INTEL_TSX_MODE_ON=y", "on"},
                                         {"CONFIG_X86_INTEL_TSX_MODE_AUTO=y", "auto"}}};
    for (const Mode& mode : modes) {
        if (configuration.find(mode.line) != std::string_view::npos) return std::string(mode.name);
    }
    return std::nullopt;
}

KernelFacts read_kernel(const fs::path& root) {
    KernelFacts kernel;
    const fs::path settings = root / "proc/sys/kernel";
    kernel.release = read_line(settings / "osrelease").value_or("");
    kernel.tsx_option = tsx_option(read_file(root / "proc/cmdline").value_or(""));
    kernel.tsx_default =
        tsx_default(read_file(root / "boot" / ("config-" + kernel.release)).value_or(""));
    kernel.tsx_async_abort =
        read_line(root / "sys/devices/system/cpu/vulnerabilities/tsx_async_abort");
    kernel.perf_event_paranoid = read_number(settings / "perf_event_paranoid");
    if (const auto watchdog = read_number(settings / "nmi_watchdog")) {
        kernel.nmi_watchdog = *watchdog != 0;
    }
    return kernel;
}

/// The part of GLIBC_TUNABLES that is about lock elision, from a NUL-separated environment.
std::optional<std::string> elision_tunables(std::string_view environment) {
    constexpr std::string_view variable = "GLIBC_TUNABLES=";
    std::istringstream entries{std::string(environment)};
    for (std::string entry; std::getline(entries, entry, '\0');) {
        if (!entry.starts_with(variable)) continue;
        std::string found;
        std::istringstream tunables{entry.substr(variable.size())};
        for (std::string tunable; std::getline(tunables, tunable, ':');) {
            if (!tunable.starts_with("glibc.elision.")) continue;
            if (!found.empty()) found += ':';
            found += tunable;
        }
        if (!found.empty()) return found;
    }
    return std::nullopt;
}

ProcessFacts read_process(const fs::path& root) {
    ProcessFacts process;
    const auto status = read_file(root / "proc/self/status").value_or("");
    const auto capabilities =
        number_in<std::uint64_t>(field(status, "CapEff").value_or(""), 16).value_or(0);
    process.cap_perfmon = (capabilities >> cap_perfmon_bit & 1u) != 0;
    process.cap_sys_admin = (capabilities >> cap_sys_admin_bit & 1u) != 0;
    process.seccomp = number_in<int>(field(status, "Seccomp").value_or(""));
    process.allowed_cpus = cpu_list(field(status, "Cpus_allowed_list").value_or(""));
    process.container = fs::exists(root / ".dockerenv") || fs::exists(root / "run/.containerenv");
    process.elision_tunables = elision_tunables(read_file(root / "proc/self/environ").value_or(""));
    return process;
}

std::vector<PmuFacts> read_pmus(const fs::path& root) {
    std::vector<PmuFacts> pmus;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(root / "sys/bus/event_source/devices", error)) {
        const fs::path directory = entry.path();
        const auto type = read_number(directory / "type");
        if (!type || *type < 0) continue;
        PmuFacts pmu;
        pmu.name = directory.filename().string();
        pmu.type = static_cast<std::uint32_t>(*type);
        pmu.format_in_tx = fs::exists(directory / "format/in_tx");
        pmu.format_in_tx_cp = fs::exists(directory / "format/in_tx_cp");
        pmu.cpus = cpu_list(read_line(directory / "cpus").value_or(""));
        if (const auto allow = read_number(directory / "allow_tsx_force_abort")) {
            pmu.allow_tsx_force_abort = *allow != 0;
        }
        pmus.push_back(std::move(pmu));
    }
    std::sort(pmus.begin(), pmus.end(),
              [](const PmuFacts& a, const PmuFacts& b) { return a.name < b.name; });
    return pmus;
}

}  // namespace

const PmuFacts* HostDescription::pmu(std::string_view name) const {
    const auto found = std::find_if(pmus.begin(), pmus.end(),
                                    [&](const PmuFacts& pmu) { return pmu.name == name; });
    return found == pmus.end() ? nullptr : &*found;
}

const PmuFacts* HostDescription::core_pmu() const {
    for (const std::string_view name : {"cpu", "cpu_core"}) {
        if (const PmuFacts* found = pmu(name)) return found;
    }
    const auto found = std::find_if(pmus.begin(), pmus.end(), [](const PmuFacts& pmu) {
        return pmu.name.starts_with("armv8") || pmu.name.starts_with("armv9");
    });
    return found == pmus.end() ? nullptr : &*found;
}

HostDescription describe_host(const std::filesystem::path& root, const CpuidSource& cpuid) {
    HostDescription host;
    host.cpu = read_cpu(root, cpuid);
    host.kernel = read_kernel(root);
    host.process = read_process(root);
    host.pmus = read_pmus(root);
    return host;
}

HostDescription describe_host() {
    HostDescription host = describe_host("/", CpuidInstruction{});
    // The probe's own reading of these two bits: the report must not contradict what was done.
    const native::RtmCpuid rtm = native::rtm_cpuid();
    host.cpu.rtm = rtm.advertised;
    host.cpu.rtm_always_abort = rtm.always_abort;
    return host;
}

}  // namespace abortscope
