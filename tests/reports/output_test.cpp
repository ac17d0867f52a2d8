// SPDX-License-Identifier: Apache-2.0
#include "reports/output.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "profiler/errors.hpp"

namespace abortscope {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

class OutputTest : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "abortscope-output-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string path(std::string_view name) const { return (folder_ / name).string(); }
    static std::string contents(const std::string& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

    fs::path folder_;
};

TEST_F(OutputTest, WhatIsWrittenIsInTheFileAtOnce) {
    Output output = Output::open(path("rows.csv"));
    output.write("one\n");
    EXPECT_EQ(contents(path("rows.csv")), "one\n");
    output.write("two\n");
    EXPECT_EQ(contents(path("rows.csv")), "one\ntwo\n");
}

TEST_F(OutputTest, AFullDiskIsAnError) {
    Output output = Output::open("/dev/full");
    EXPECT_THAT([&] { output.write("x"); },
                ThrowsMessage<IoError>("cannot write /dev/full: No space left on device"));
}

TEST_F(OutputTest, AFileThatCannotBeOpenedIsNamed) {
    EXPECT_THAT([&] { Output::open(path("no/such/folder.csv")); },
                ThrowsMessage<IoError>(HasSubstr("folder.csv: No such file or directory")));
    EXPECT_THAT([&] { Output::open(folder_.string()); },
                ThrowsMessage<IoError>(HasSubstr("Is a directory")));
}

TEST_F(OutputTest, AWholeFileReplacesTheOldOneAndKeepsItsRights) {
    std::ofstream(path("r.json")) << "a much longer text than the new one";
    chmod(path("r.json").c_str(), 0640);
    write_whole(path("r.json"), "new");
    EXPECT_EQ(contents(path("r.json")), "new");
    EXPECT_EQ(files(), 1u);
    EXPECT_EQ(fs::status(path("r.json")).permissions(), fs::perms(0640));
}

TEST_F(OutputTest, ASymbolicLinkStaysOneAndItsTargetIsReplaced) {
    std::ofstream(path("target")) << "old";
    fs::create_symlink("target", path("link"));
    write_whole(path("link"), "new");
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_EQ(contents(path("target")), "new");
}

TEST_F(OutputTest, AWholeFileOnADeviceIsWrittenStraight) {
    write_whole("/dev/null", "text");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_THAT([] { write_whole("/dev/full", "text"); },
                ThrowsMessage<IoError>(HasSubstr("No space left on device")));
}

TEST_F(OutputTest, WritabilityIsKnownBeforehandAndTestedWithoutATrace) {
    require_writable(path("new.json"));
    EXPECT_EQ(files(), 0u);
    std::ofstream(path("old.json")) << "old";
    require_writable(path("old.json"));
    EXPECT_EQ(contents(path("old.json")), "old");
    EXPECT_EQ(files(), 1u);
    EXPECT_THROW(require_writable(path("no/such/folder.json")), IoError);
    EXPECT_THROW(require_writable(folder_.string()), IoError);
}

}  // namespace
}  // namespace abortscope
