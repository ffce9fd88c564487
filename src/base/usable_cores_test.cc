// The cores that control groups allow, read from folders with the same structure.
#include "base/usable_cores.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace hs {
namespace {

class CoresOfGroups : public ::testing::Test {
 protected:
  CoresOfGroups() : mount_(::testing::TempDir() + "hs-groups-" + std::to_string(::getpid())) {}
  ~CoresOfGroups() override { std::filesystem::remove_all(mount_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((mount_ / path).parent_path());
    std::ofstream(mount_ / path) << text;
  }
  std::uint64_t cores(const std::string& memberships) {
    return cores_of_groups(memberships, mount_.string()).value_or(0);
  }

  const std::filesystem::path mount_;
};

TEST_F(CoresOfGroups, AreTheQuotaRoundedUp) {
  write("service/cpu.max", "150000 100000\n");
  EXPECT_EQ(cores("0::/service\n"), 2U);
  write("service/cpu.max", "200000 100000\n");
  EXPECT_EQ(cores("0::/service\n"), 2U);
  write("service/cpu.max", "1000 100000\n");
  EXPECT_EQ(cores("0::/service\n"), 1U);
}

TEST_F(CoresOfGroups, AreNoneWithoutAQuota) {
  EXPECT_EQ(cores("0::/service\n"), 0U);
  write("service/cpu.max", "max 100000\n");
  EXPECT_EQ(cores("0::/service\n"), 0U);
  for (const char* const nonsense :
       {"", "\n", "100000", "100000 ", "100000 0\n", "-1 100000\n", "x y"}) {
    write("service/cpu.max", nonsense);
    EXPECT_EQ(cores("0::/service\n"), 0U) << nonsense;
  }
  EXPECT_EQ(cores(""), 0U);
  EXPECT_EQ(cores("nonsense\n::\n0:\n"), 0U);
}

TEST_F(CoresOfGroups, AreTheSmallestOnTheWayUp) {
  write("cpu.max", "600000 100000\n");
  write("slice/cpu.max", "200000 100000\n");
  write("slice/service/cpu.max", "800000 100000\n");
  EXPECT_EQ(cores("0::/slice/service\n"), 2U);
  EXPECT_EQ(cores("0::/other\n"), 6U) << "a group that is not to be seen from a container";
  EXPECT_EQ(cores("0::/\n"), 6U);
}

TEST_F(CoresOfGroups, AreReadFromVersionOne) {
  write("cpu/docker/x/cpu.cfs_quota_us", "300000\n");
  write("cpu/docker/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores("5:memory:/docker/x\n1:cpuacct,cpu:/docker/x\n0::/\n"), 3U);
  EXPECT_EQ(cores("1:cpuset:/docker/x\n"), 0U);
  write("cpu/docker/x/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(cores("1:cpu:/docker/x\n"), 0U);
}

TEST(UsableCores, AreThere) { EXPECT_GE(usable_cores(), 1U); }

}  // namespace
}  // namespace hs
